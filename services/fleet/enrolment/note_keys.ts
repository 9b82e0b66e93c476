/**
 * The keys for notes of a member's hub. It learns a new one over the link, by the signature of one that it
 * knows. The former ones stay valid: a hub that was restored from a backup has none but one of them.
 * `hosts/note_keys.ts` is the hub's side.
 *
 * @module
 */

import { type Membership, selectMembership } from "../../../db/fleet_membership.ts";
import { replaceKnownNoteKeys, selectKnownNoteKeys } from "../../../db/fleet_note_keys.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import type { Control } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";
import { type CheckSignature, checkWith } from "../notes/note.ts";
import { isSuccession } from "../notes/succession.ts";
import { toBytes } from "./keys.ts";

/** Limit of keys besides that at the time of joining. */
const KEYS_MAX = 24;

type MemberOf = Pick<Membership, "hubNoteKey">;

/** Says over a new link which key of the hub this host has. */
export function announceNoteKey(
  deps: Pick<Deps, "db">,
  membership: MemberOf,
  link: Pick<OpenLink, "tell">,
): void {
  link.tell({ type: "note_key_kept", noteKey: knownKeys(deps, membership)[0]! });
}

const knownKeys = ({ db }: Pick<Deps, "db">, { hubNoteKey }: MemberOf): string[] => [
  ...new Set([...selectKnownNoteKeys(db), hubNoteKey]),
];

/** Whether a signature is one of the hub, with any of its keys. */
export const hubCheck =
  (deps: Pick<Deps, "db">, membership: MemberOf): CheckSignature => async (signature, bytes) => {
    for (const key of knownKeys(deps, membership)) {
      if (await (await checkOf(key))(signature, bytes)) return true;
    }
    return false;
  };

/** Checks signatures of one key. @param publicKey Base64url. */
export async function checkOf(publicKey: string): Promise<CheckSignature> {
  const bytes = toBytes(publicKey);
  return checkWith(await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]));
}

/**
 * Takes the keys that the hub tells, each signed with one before. The hub tells the next one after an answer:
 * what arrives sooner is left out.
 */
export function createNoteKeyReceiver(
  deps: Pick<Deps, "db" | "log">,
  membership: Pick<Membership, "hostId" | "hubName" | "hubNoteKey">,
): (message: Control<"note_key">, link: Pick<OpenLink, "tell">) => void {
  const { db, log } = deps;
  const { hostId, hubName: hub, hubNoteKey } = membership;
  let isReceiving = false;

  async function receive(
    { noteKey, signature }: Control<"note_key">,
    link: Pick<OpenLink, "tell">,
  ): Promise<void> {
    const keys = knownKeys(deps, membership);
    if (!keys.includes(noteKey)) {
      if (!await isSuccession(hubCheck(deps, membership), { next: noteKey, signature })) {
        return log.warn("key for notes with a wrong signature ignored", { hub });
      }
      const current = selectMembership(db);
      // This host may have left, and joined another fleet meanwhile.
      if (current?.hostId !== hostId || current.hubNoteKey !== hubNoteKey) return;
      replaceKnownNoteKeys(db, [noteKey, ...keys].slice(0, KEYS_MAX));
      log.info("new key for notes of the hub", { hub });
    }
    link.tell({ type: "note_key_kept", noteKey });
  }

  return (message, link) => {
    if (isReceiving) return;
    isReceiving = true;
    receive(message, link).catch((error) => {
      log.error("key for notes of the hub failed", errorFields(error));
    }).finally(() => isReceiving = false);
  };
}
