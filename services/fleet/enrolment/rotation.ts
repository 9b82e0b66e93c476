/**
 * New keys of a member every 30 days. The member announces them over its link, the hub stores them beside
 * the old ones, and the member uses them from its next connection on. Both are valid until then, so that
 * a crash at any point locks out neither side.
 *
 * @module
 */

import {
  confirmNextKeys,
  insertNextKey,
  promoteNextKeys,
  selectNextKey,
} from "../../../db/fleet_next_keys.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import type { Control } from "../link/control.ts";
import type { KeyPair } from "../link/noise.ts";
import { createFleetKey, type KeyDeps, linkKeys, openLinkKey } from "./keys.ts";

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

/**
 * The key to dial with: the new one that the hub has stored, else the old one.
 *
 * @param isNextRefused Whether the hub does not know the new one, e.g. after a restore from a backup.
 */
export async function dialKeys(
  deps: KeyDeps,
  isNextRefused: boolean,
): Promise<{ keys: KeyPair; isNext: boolean }> {
  const next = selectNextKey(deps.db, "link");
  if (!next?.isConfirmed || isNextRefused) return { keys: await linkKeys(deps), isNext: false };
  return { keys: await openLinkKey(deps, next), isNext: true };
}

/** The hub has accepted a connection with the new key. */
export const useNextKeys = ({ db }: Pick<KeyDeps, "db">): void => promoteNextKeys(db);
