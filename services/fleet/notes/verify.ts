/** Checks notes at a member, and says why one is refused. @module */

import {
  type CheckSignature,
  digestOf,
  openNote,
  type SignedNote,
  VALIDITY_MAX_MS,
} from "./note.ts";
import type { Nonces } from "./nonces.ts";

/** Reasons to refuse a note, each with its sentence. */
export const NOTE_REFUSALS = {
  missing: "The request has no note",
  malformed: "The note cannot be read",
  other_hub: "The note is from another hub",
  signature: "The note was changed, or the hub did not sign it",
  other_host: "The note is for another host",
  expired: "The note has expired; compare the clocks of the hub and the host",
  future: "The note is from the future; compare the clocks of the hub and the host",
  other_method: "The note is for another method",
  other_path: "The note is for another path",
  other_stream: "The note is for another stream",
  replayed: "The note was used before",
  busy: "Too many notes were accepted in the last minute",
  other_body: "The note is for another body",
} as const;

export type NoteRefusal = keyof typeof NOTE_REFUSALS;

/** Parts of a request that its note has to name. */
export interface NotedRequest {
  /** The header; `null` without one. */
  note: string | null;
  method: string;
  /** Path and query. */
  path: string;
  /** Id of the stream that it arrived on. */
  stream: string | null;
}

/** The parties of a note, as the member knows them. */
export interface NoteParties {
  /** The member's key for links. */
  host: string;
  hub: { key: string; check: CheckSignature };
}

/**
 * Checks everything but the body, and uses the nonce up.
 *
 * @returns The note, or the reason why it is refused.
 */
export async function verifyNote(
  { nonces, now }: { nonces: Nonces; now: () => Date },
  { host, hub }: NoteParties,
  request: NotedRequest,
): Promise<SignedNote | NoteRefusal> {
  if (request.note === null) return "missing";
  const opened = openNote(request.note);
  if (!opened) return "malformed";
  const { note } = opened;
  if (note.hub !== hub.key) return "other_hub";
  if (!await opened.isSigned(hub.check)) return "signature";
  if (note.host !== host) return "other_host";
  const atMs = now().getTime();
  if (note.exp <= atMs) return "expired";
  if (note.exp > atMs + VALIDITY_MAX_MS) return "future";
  if (note.method !== request.method) return "other_method";
  if (note.path !== request.path) return "other_path";
  if (note.digest === null && note.stream !== request.stream) return "other_stream";
  const acceptance = nonces.accept(note.nonce);
  return acceptance === "accepted" ? note : acceptance;
}

/** Whether a body is the one that its note names. */
export const isBodyOf = async (
  { digest }: SignedNote,
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> => digest === await digestOf(body);
