/** The relying party of passkeys: the host that they are created for. @module */

import { AppError } from "../../errors.ts";

export interface RelyingParty {
  /** The host name. */
  rpId: string;
  /** The origin of the pages. */
  origin: string;
}

/** Browsers accept host names only. */
const ADDRESS = /^[\d.]+$|^\[/;

/**
 * The relying party of a service.
 *
 * @param base `SERVICE_BASE_URL`, or else the address that the client used.
 * @returns `undefined` where browsers have no passkeys: without TLS, and for an IP address.
 */
export function findRelyingParty(base: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(base);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (ADDRESS.test(hostname) || protocol !== "https:" && !isLocal) return undefined;
  return { rpId: hostname, origin };
}

/** @throws {AppError} `conflict` where {@linkcode findRelyingParty} finds none. */
export function requireRelyingParty(base: string): RelyingParty {
  const found = findRelyingParty(base);
  if (found) return found;
  throw new AppError(
    "conflict",
    "Passkeys need HTTPS and a host name, or localhost; set SERVICE_BASE_URL",
  );
}
