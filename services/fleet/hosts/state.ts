/** The one word for the state of a host. @module */

import type { StoredHost } from "../../../db/fleet_hosts.ts";
import { AWAY_MS, LATE_MS, type OpenLink } from "../link/open_link.ts";

/**
 * - `pending`: an admin has to accept the host
 * - `connected`: its last beat is not older than 30 seconds
 * - `late`: it is older
 * - `away`: the connection has closed, or the last beat is older than 75 seconds
 * - `never`: accepted, but it has not connected yet
 * - `left`: it has left the fleet
 */
export const HOST_STATES = ["pending", "connected", "late", "away", "never", "left"] as const;
export type HostState = (typeof HOST_STATES)[number];

/** Time of the last message on a link, also after its end. ISO 8601, UTC. */
export const heardAt = ({ now }: { now: () => Date }, { silentMs }: OpenLink): string =>
  new Date(now().getTime() - silentMs).toISOString();

/**
 * The state of a host, and since when it is away (its last message) or has left
 * (ISO 8601, UTC).
 *
 * @param silentMs Time since the last message on its open link; `undefined` without one.
 */
export function stateOf(
  { isPending, lastSeenAt, leftAt }: Pick<StoredHost, "isPending" | "lastSeenAt" | "leftAt">,
  silentMs: number | undefined,
): { state: HostState; since: string | null } {
  if (leftAt !== null) return { state: "left", since: leftAt };
  if (isPending) return { state: "pending", since: null };
  if (silentMs !== undefined && silentMs < AWAY_MS) {
    return { state: silentMs > LATE_MS ? "late" : "connected", since: null };
  }
  return lastSeenAt === null
    ? { state: "never", since: null }
    : { state: "away", since: lastSeenAt };
}
