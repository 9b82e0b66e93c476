/**
 * New keys of a member every 30 days. The member announces them over its link, the hub stores them beside
 * the old ones, and the member uses them from its next connection on. Both are valid until then, so that
 * a crash at any point locks out neither side. A hub may also know none but an older key of the member,
 * e.g. after a restore from a backup: the member dials with it, and announces its own keys.
 *
 * @module
 */

import {
  confirmNextKeys,
  insertNextKey,
  promoteNextKeys,
  selectNextKey,
} from "../../../db/fleet_next_keys.ts";
import { type FleetKey, selectFleetKey, selectFormerFleetKey } from "../../../db/fleet_keys.ts";
import { selectFormerHubKeys } from "../../../db/fleet_hub_keys.ts";
import type { Deps } from "../../deps.ts";
import type { Control } from "../link/control.ts";
import type { KeyPair } from "../link/noise.ts";
import { createFleetKey, type KeyDeps, linkKeys, noteKeys, openLinkKey, toText } from "./keys.ts";

/** Age at which keys are replaced, in milliseconds. */
export const KEY_MAX_MS = 30 * 24 * 60 * 60_000;

/**
 * The announcement of new keys, which are made when they are due; `undefined` if they are not. A member that
 * is a hub keeps its key for notes, because what it has signed is checked long afterwards.
 */
export async function dueKeys(
  deps: KeyDeps & Pick<Deps, "fleet">,
): Promise<Control<"rekey"> | undefined> {
  const { db, fleet, now } = deps;
  const link = selectFleetKey(db, "link");
  if (!link || now().getTime() - Date.parse(link.createdAt) < KEY_MAX_MS) return undefined;
  if (selectNextKey(db, "link")?.isConfirmed) return undefined;
  if (!selectNextKey(db, "link")) {
    const purposes: FleetKey["purpose"][] = fleet.isHub ? ["link"] : ["link", "note"];
    const keys = await Promise.all(purposes.map((purpose) => createFleetKey(deps, purpose)));
    db.transaction(() => {
      for (const key of keys) insertNextKey(db, { ...key, isConfirmed: false });
    });
  }
  const linkKey = selectNextKey(db, "link")!.publicKey;
  const noteKey = (selectNextKey(db, "note") ?? await noteKeys(deps)).publicKey;
  return { type: "rekey", linkKey, noteKey };
}

/** The hub has stored keys; those of an earlier announcement do not count. */
export function receiveRekeyed({ db }: Pick<KeyDeps, "db">, { linkKey }: Control<"rekeyed">): void {
  if (selectNextKey(db, "link")?.publicKey === linkKey) confirmNextKeys(db);
}

/** The announcement of the own keys, over a link that was opened with another one. */
export async function ownKeys(deps: KeyDeps): Promise<Control<"rekey">> {
  const [link, note] = [await linkKeys(deps), await noteKeys(deps)];
  return { type: "rekey", linkKey: toText(link.publicKey), noteKey: note.publicKey };
}

/** A key to dial with: the own one, the next one, which becomes the own one, or another one. */
export interface DialKeys {
  keys: KeyPair;
  use: "own" | "next" | "other";
  /** Whether the hub knows none of the keys of this host if it does not know this one. */
  isLast: boolean;
}

/**
 * The key to dial with. The new one that the hub has stored comes first, then the own one, then the one
 * before it, and those that this installation had as a hub (`hosts/hub_keys.ts`).
 *
 * @param unknown Number of keys in a row that the hub did not know.
 */
export async function dialKeys(
  deps: KeyDeps,
  { isHub, unknown }: { isHub: boolean; unknown: number },
): Promise<DialKeys> {
  const { db } = deps;
  const stored = selectNextKey(db, "link");
  const next = stored?.isConfirmed ? stored : undefined;
  const choices: { use: DialKeys["use"]; key?: FleetKey }[] = [{ use: "own" }];
  // It was announced with a new key for notes, before this installation was a hub.
  const isUnusable = isHub && selectNextKey(db, "note");
  if (next && isUnusable) choices.push({ use: "other", key: next });
  if (next && !isUnusable) choices.unshift({ use: "next", key: next });
  const former = selectFormerFleetKey(db, "link");
  if (former) choices.push({ use: "other", key: former });
  for (const key of selectFormerHubKeys(db)) {
    if (key.publicKey === former?.publicKey) continue;
    choices.push({ use: "other", key: { ...key, purpose: "link" } });
  }
  const { use, key } = choices[unknown % choices.length]!;
  const isLast = unknown >= choices.length - 1;
  return { use, isLast, keys: await (key ? openLinkKey(deps, key) : linkKeys(deps)) };
}

/** The hub has accepted a connection with the new key. */
export const useNextKeys = ({ db, fleet }: Pick<Deps, "db" | "fleet">): void =>
  promoteNextKeys(db, fleet);
