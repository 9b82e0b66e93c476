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
import type { Control } from "../link/control.ts";
import type { KeyPair } from "../link/noise.ts";
import { createFleetKey, type KeyDeps, linkKeys, noteKeys, openLinkKey, toText } from "./keys.ts";

/** Age at which keys are replaced, in milliseconds. */
export const KEY_MAX_MS = 30 * 24 * 60 * 60_000;

/** The announcement of new keys, which are made when they are due; `undefined` if they are not. */
export async function dueKeys(deps: KeyDeps): Promise<Control<"rekey"> | undefined> {
  const { db, now } = deps;
  const link = selectFleetKey(db, "link");
  if (!link || now().getTime() - Date.parse(link.createdAt) < KEY_MAX_MS) return undefined;
  if (selectNextKey(db, "link")?.isConfirmed) return undefined;
  if (!selectNextKey(db, "link")) {
    const [linkKey, noteKey] = await Promise.all([
      createFleetKey(deps, "link"),
      createFleetKey(deps, "note"),
    ]);
    db.transaction(() => {
      insertNextKey(db, { ...linkKey, isConfirmed: false });
      insertNextKey(db, { ...noteKey, isConfirmed: false });
    });
  }
  const linkKey = selectNextKey(db, "link")!.publicKey;
  return { type: "rekey", linkKey, noteKey: selectNextKey(db, "note")!.publicKey };
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
}

/**
 * The key to dial with. The new one that the hub has stored comes first, then the own one, then the one
 * before it. A hub replaces its own by itself (`hosts/hub_keys.ts`).
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
  const former = selectFormerFleetKey(db, "link");
  const choices: { use: DialKeys["use"]; key?: FleetKey }[] = [{ use: "own" }];
  if (next && isHub) choices.push({ use: "other", key: next });
  if (next && !isHub) choices.unshift({ use: "next", key: next });
  if (former) choices.push({ use: "other", key: former });
  const { use, key } = choices[unknown % choices.length]!;
  return { use, keys: await (key ? openLinkKey(deps, key) : linkKeys(deps)) };
}

/** The hub has accepted a connection with the new key. */
export const useNextKeys = ({ db }: Pick<KeyDeps, "db">): void => promoteNextKeys(db);
