/** Connections to the addresses that were checked, and to no others. @module */

import type { LookupFunction } from "node:net";
import { nodeNet } from "../builtins.ts";
import { withTimeLimit } from "../deadline.ts";
import { asOutboundError, timeoutError } from "./error.ts";
import { type OutboundDeps, type OutboundReach, resolveOutbound } from "./url.ts";

/** Minimum time for each of several addresses, in milliseconds. */
const ATTEMPT_MS_MIN = 1_000;

/**
 * Options of the runtime's sockets: connect to one of the addresses, in their order, instead of
 * resolving the host again.
 *
 * @param addresses All addresses of the host, checked.
 */
export function connectOptions(addresses: readonly string[], timeoutMs: number) {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookup: LookupFunction = (_host, _options, callback) => callback(null, found);
  return {
    lookup,
    autoSelectFamily: true, // tries one address after another, and asks `lookup` for all of them
    autoSelectFamilyAttemptTimeout: Math.max(
      ATTEMPT_MS_MIN,
      Math.floor(timeoutMs / addresses.length),
    ),
  };
}

/**
 * Opens a TCP connection to a host and closes it.
 *
 * @throws {OutboundError} If no connection can be made.
 */
export async function checkOutboundPort(
  deps: OutboundDeps,
  { host, port, reach, timeoutMs, signal }: {
    host: string;
    port: number;
    reach: OutboundReach;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
): Promise<void> {
  await withTimeLimit({ timeoutMs, signal, timeoutError }, async (limit) => {
    const addresses = await resolveOutbound(deps, host, reach, limit);
    const socket = nodeNet().connect({
      ...connectOptions(addresses, timeoutMs),
      host: host.replace(/^\[(.*)\]$/, "$1"),
      port,
      signal: limit,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once("connect", resolve);
        socket.on("error", reject);
      });
    } catch (cause) {
      throw asOutboundError(cause, { host: `${host}:${port}` });
    } finally {
      socket.destroy();
    }
  });
}
