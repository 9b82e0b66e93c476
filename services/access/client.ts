/** The client of a sign-in: its address and browser. @module */

import { addressGroup } from "./address_group.ts";

export interface Client {
  /** As seen behind trusted proxies. */
  address: string;
  /** The `User-Agent` header, at most {@linkcode USER_AGENT_MAX} characters; `null` without one. */
  userAgent: string | null;
}

/** Longest `User-Agent` that is stored, in characters. */
export const USER_AGENT_MAX = 512;

/** Identity of a client across sign-ins. An updated browser is the same client. */
export function clientKey({ address, userAgent }: Client): { network: string; browser: string } {
  return {
    network: addressGroup(address),
    browser: (userAgent ?? "").replace(/\d[\d._]*/g, ""),
  };
}
