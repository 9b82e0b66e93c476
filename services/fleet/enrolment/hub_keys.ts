/**
 * The keys of a member's hub. A new one is used from the next connection on, and those before it are
 * kept: a hub that was restored from a backup has none but one of them. `hosts/hub_keys.ts` is the hub's side.
 *
 * @module
 */

import { replaceKnownHubKeys, selectKnownHubKeys } from "../../../db/fleet_hub_keys.ts";
import type { Membership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";

/** Limit of keys besides that at the time of joining, as many as the hub keeps. */
const KEYS_MAX = 12;

type MemberOf = Pick<Membership, "hubKey">;

/** The keys that the hub may have, the newest first, and that at the time of joining in any case. */
export const knownHubKeys = ({ db }: Pick<Deps, "db">, { hubKey }: MemberOf): string[] => [
  ...new Set([...selectKnownHubKeys(db), hubKey]),
];

/**
 * The key to dial with.
 *
 * @param failures Number of handshakes in a row that have failed.
 */
export function hubKeyToTry(
  deps: Pick<Deps, "db">,
  membership: MemberOf,
  failures: number,
): string {
  const keys = knownHubKeys(deps, membership);
  return keys[failures % keys.length]!;
}

/** Makes a key, which the hub has proved or told as its newest one, the first one to try. */
export function keepHubKey(deps: Pick<Deps, "db">, membership: MemberOf, key: string): void {
  const keys = knownHubKeys(deps, membership);
  if (keys[0] === key) return;
  const others = keys.filter((other) => other !== key);
  replaceKnownHubKeys(deps.db, [key, ...others].slice(0, KEYS_MAX));
}
