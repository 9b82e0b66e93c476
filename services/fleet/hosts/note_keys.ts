/**
 * The keys of a hub for notes. It makes a new one every 30 days, signed with the one before, and tells its
 * hosts (`enrolment/note_keys.ts` is their side). What it signs for a host is signed with the key that this
 * host has confirmed over its present link, so that a crash at any point leaves both sides with a key that
 * they share, and a host that was away learns one key after the other. Without a confirmation it is the key
 * of the time of joining, which each host keeps, also one that returns to an older version.
 *
 * @module
 */

import { type FleetKey, replaceFleetKey, selectFleetKey } from "../../../db/fleet_keys.ts";
import { selectMembership } from "../../../db/fleet_membership.ts";
import {
  insertFormerNoteKey,
  selectFormerNoteKey,
  selectFormerNoteKeys,
  selectHostNoteKey,
} from "../../../db/fleet_note_keys.ts";
import type { Deps } from "../../deps.ts";
import { createFleetKey, type KeyDeps, noteKeys, openNoteKey } from "../enrolment/keys.ts";
import { KEY_MAX_MS } from "../enrolment/rotation.ts";
import type { Control } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";
import { type Sign, signWith } from "../notes/note.ts";
import type { HubSide } from "../passing/sides.ts";
import { signSuccession } from "../notes/succession.ts";

/**
 * Replaces the key for notes of this hub if it is 30 days old, and tells the hosts that are connected. A hub
 * that is a member keeps its key, which its own hub knows.
 */
export async function renewNoteKey(deps: KeyDeps & Pick<Deps, "fleet" | "log">): Promise<void> {
  const { db, fleet, log, now } = deps;
  const key = selectFleetKey(db, "note");
  if (!key || selectMembership(db)) return;
  if (now().getTime() - Date.parse(key.createdAt) < KEY_MAX_MS) return;
  const next = await createFleetKey(deps, "note");
  const sign = signWith(await openNoteKey(deps, key));
  const signature = await signSuccession(sign, next.publicKey);
  const { purpose: _, ...former } = key;
  db.transaction(() => {
    insertFormerNoteKey(db, { ...former, nextKey: next.publicKey, signature });
    replaceFleetKey(db, next);
  });
  log.info("key for notes of this hub replaced");
  for (const [hostId, { link }] of fleet.hosts) tellNextNoteKey(deps, hostId, link);
}

/** The key of this hub for notes that a host gets when it joins; base64url. */
export async function noteKeyFor(deps: KeyDeps, hostId: string): Promise<string> {
  await noteKeys(deps);
  return joiningKey(deps, hostId);
}

/**
 * Follows what a host confirms over its link. Its first message says the newest key that it has, which may be
 * an older one than before, e.g. after a restore from a backup; then it learns one key after the other.
 */
export function receiveNoteKeyKept(
  deps: Pick<Deps, "db" | "fleet">,
  { hostId, link }: { hostId: string; link: Pick<OpenLink, "tell"> },
  { noteKey }: Control<"note_key_kept">,
): void {
  const { db, fleet } = deps;
  const open = fleet.hosts.get(hostId);
  // Messages of a link that was replaced may follow.
  if (open?.link !== link) return;
  const isNext = selectFormerNoteKey(db, confirmedKey(deps, hostId))?.nextKey === noteKey;
  if (open.noteKey !== undefined && !isNext) return;
  open.noteKey = isOwn(deps, noteKey) ? noteKey : joiningKey(deps, hostId);
  tellNextNoteKey(deps, hostId, link);
}

/** Tells a host the key that follows the one that it has confirmed. */
function tellNextNoteKey(
  deps: Pick<Deps, "db" | "fleet">,
  hostId: string,
  link: Pick<OpenLink, "tell">,
): void {
  const former = selectFormerNoteKey(deps.db, confirmedKey(deps, hostId));
  if (!former) return;
  link.tell({ type: "note_key", noteKey: former.nextKey, signature: former.signature });
}

/**
 * A function that signs for a host, or without one with the newest key. What a host keeps to give it back is
 * signed with the key of its joining: a hub that was restored from a backup may not have a newer one.
 */
export function createSigner(deps: KeyDeps & Pick<Deps, "fleet">): HubSide["sign"] {
  const { db } = deps;
  /** By the public key: opening one takes longer than signing. */
  const opened = new Map<string, Sign>();
  return async (bytes, hostId, use = "confirmed") => {
    const keyOf = use === "joining" ? joiningKey : confirmedKey;
    const key = hostId === undefined ? undefined : keyOf(deps, hostId);
    const former = key === undefined ? undefined : selectFormerNoteKey(db, key);
    // The key may be replaced while it is being opened.
    const row = former ? { ...former, purpose: "note" as const } : await newest();
    const sign = opened.get(row.publicKey) ?? signWith(await openNoteKey(deps, row));
    opened.set(row.publicKey, sign);
    return await sign(bytes);
  };

  async function newest(): Promise<FleetKey> {
    if (!selectFleetKey(db, "note")) await noteKeys(deps);
    return selectFleetKey(db, "note")!;
  }
}

/** The key that a host has confirmed over its present link; that of joining if it has confirmed none. */
const confirmedKey = (deps: Pick<Deps, "db" | "fleet">, hostId: string): string =>
  deps.fleet.hosts.get(hostId)?.noteKey ?? joiningKey(deps, hostId);

/** The key that a host got when it joined; the oldest one if this hub does not have it. */
function joiningKey({ db }: Pick<Deps, "db">, hostId: string): string {
  const given = selectHostNoteKey(db, hostId)?.noteKey;
  if (given !== undefined && isOwn({ db }, given)) return given;
  return selectFormerNoteKeys(db)[0]?.publicKey ?? selectFleetKey(db, "note")?.publicKey ?? "";
}

const isOwn = ({ db }: Pick<Deps, "db">, key: string): boolean =>
  key === selectFleetKey(db, "note")?.publicKey || selectFormerNoteKey(db, key) !== undefined;
