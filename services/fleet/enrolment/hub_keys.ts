/**
 * The keys of a member's hub. A new one is used from the next connection on, and the one before it is
 * kept: a hub that was restored from a backup has none but that. `hosts/hub_keys.ts` is the hub's side.
 *
 * @module
 */

import { replaceKnownHubKeys, selectKnownHubKeys } from "../../../db/fleet_hub_keys.ts";
import type { Membership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import type { Control } from "../link/control.ts";

/** Limits: of keys that may be tried, and of those that are kept once the newest was used. */
const TRIED_MAX = 3;
const KEPT_MAX = 2;

type MemberOf = Pick<Membership, "hubKey">;

/** The keys that the hub may have, the newest first. */
function knownKeys({ db }: Pick<Deps, "db">, { hubKey }: MemberOf): string[] {
  const known = selectKnownHubKeys(db);
  return known.length > 0 ? known : [hubKey];
}

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
  const keys = knownKeys(deps, membership);
  return keys[failures % keys.length]!;
}

/** The hub has told its newest key. */
export function receiveHubKey(
  deps: Pick<Deps, "db">,
  membership: MemberOf,
  { linkKey }: Control<"hub_key">,
): void {
  const keys = [linkKey, ...knownKeys(deps, membership).filter((key) => key !== linkKey)];
  replaceKnownHubKeys(deps.db, keys.slice(0, TRIED_MAX));
}

/** The hub has proved a key, which is the first to try from now on, and one other is kept. */
export function keepHubKeys(deps: Pick<Deps, "db">, membership: MemberOf, used: string): void {
  const keys = knownKeys(deps, membership);
  if (keys[0] === used && keys.length <= KEPT_MAX) return;
  const others = keys.filter((key) => key !== used);
  replaceKnownHubKeys(deps.db, [used, ...others].slice(0, KEPT_MAX));
}
