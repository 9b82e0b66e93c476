/**
 * Notes: what a hub says about a request that it passes on, signed with its Ed25519 key. The signature
 * is over the bytes as they are sent, so that a note has one form only.
 *
 * @module
 */

import { type Scope, UNLIMITED } from "../../access/scope.ts";
import { USER_ROLES, type UserRole } from "../../access/caller.ts";

/** Request header of a note: the bytes and the signature in base64url, joined by a dot. */
export const NOTE_HEADER = "longshore-note";

/** Request header that a member adds to what arrives on a stream: the stream's id. */
export const STREAM_HEADER = "longshore-stream";

/** Response header of a member with the reason for which it refused the note. */
export const REFUSAL_HEADER = "longshore-note-refused";

/** Response header of a member for a read that is in its audit log, and must be in that of the hub. */
export const AUDITED_HEADER = "longshore-audited";

/** The only path outside of `/api/` that is passed on. */
export const METRICS_PATH = "/metrics";

/** Largest body whose digest is in the note, in bytes. */
export const DIGESTED_MAX = 1024 * 1024;

/** Longest validity on the member's clock, in milliseconds. */
export const VALIDITY_MAX_MS = 30_000;

/** Limit of a note as a header, in characters. */
const TEXT_MAX = 48 * 1024;

/** Limits of the values: length of a text, entries of a list. */
const VALUE_MAX = 4_096;
const LIST_MAX = 500;
const NONCE_MAX = 64;

/** A note, as the hub and the member understand it. */
export interface SignedNote {
  /** The hub's key for links, base64url. */
  hub: string;
  /** Id of the user at the hub. */
  user: string;
  /** Name of the user at the hub, for the member's logs. */
  name: string;
  role: UserRole;
  /** Permissions beyond the role, from custom roles of the hub. */
  permissions: readonly string[];
  /** Limits of the API token; `null` for a login. */
  scope: Scope | null;
  /** The member's key for links, base64url. */
  host: string;
  method: string;
  /** Path and query. */
  path: string;
  /** SHA-256 of the body in base64url; `null` for a longer one and for an upgrade. */
  digest: string | null;
  /** Id of the stream; `null` with a digest. */
  stream: string | null;
  /** End of the validity on the member's clock, in Unix milliseconds. */
  exp: number;
  /** Random text, which a member accepts once. */
  nonce: string;
}

/** Signs bytes with the key for notes of this installation. */
export type Sign = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** Whether a signature over bytes is one of the hub's key for notes. */
export type CheckSignature = (
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
) => Promise<boolean>;

/** Separates signatures of notes from others with the same key. */
const DOMAIN = "longshore-note-v1\n";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const BASE64 = { alphabet: "base64url", omitPadding: true } as const;

/** A function that signs with an Ed25519 key. */
export const signWith = (key: CryptoKey): Sign => async (bytes) =>
  new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes));

/** A function that checks signatures of an Ed25519 key. */
export const checkWith = (key: CryptoKey): CheckSignature => (signature, bytes) =>
  crypto.subtle.verify("Ed25519", key, signature, bytes);

/** The note as a header. @throws {RangeError} For a note that no member would read. */
export async function sealNote(sign: Sign, note: SignedNote): Promise<string> {
  const { scope } = note;
  const fields = [
    note.hub,
    note.user,
    note.name,
    note.role,
    note.permissions,
    scope && [scope.permissions, scope.stacks, scope.containers],
    note.host,
    note.method,
    note.path,
    note.digest,
    note.stream,
    note.exp,
    note.nonce,
  ];
  const bytes = encoder.encode(JSON.stringify(fields));
  const signature = await sign(signedBytes(bytes));
  const text = `${bytes.toBase64(BASE64)}.${signature.toBase64(BASE64)}`;
  if (text.length > TEXT_MAX) throw new RangeError("The note is too long");
  return text;
}

/** A note whose signature is not checked yet. */
export interface OpenedNote {
  note: SignedNote;
  /** Whether the hub has signed it. */
  isSigned(check: CheckSignature): Promise<boolean>;
}

/** Reads a header; `undefined` for anything that is not a note. */
export function openNote(text: string): OpenedNote | undefined {
  if (text.length > TEXT_MAX) return undefined;
  const [content = "", signature = "", ...rest] = text.split(".");
  if (rest.length > 0) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(content, { alphabet: "base64url" });
    const signed = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
    const note = toNote(JSON.parse(decoder.decode(bytes)));
    return note && { note, isSigned: (check) => check(signed, signedBytes(bytes)) };
  } catch {
    return undefined;
  }
}

/** Later versions may add fields at the end. A field that limits rights needs another domain. */
function toNote(fields: unknown): SignedNote | undefined {
  if (!Array.isArray(fields)) return undefined;
  const [hub, user, name, role, permissions, limits] = fields;
  const [host, method, path, digest, stream, exp, nonce] = fields.slice(6);
  const texts = [hub, user, name, host, method, path, nonce].every(isText);
  const scope = toScope(limits);
  const isValid = texts && nonce.length <= NONCE_MAX && USER_ROLES.includes(role) &&
    isList(permissions) &&
    scope !== undefined && Number.isSafeInteger(exp) &&
    (digest === null ? isText(stream) : isText(digest) && stream === null);
  if (!isValid) return undefined;
  return {
    ...{ hub, user, name, role, permissions, scope },
    ...{ host, method, path, digest, stream, exp, nonce },
  };
}

function toScope(limits: unknown): Scope | null | undefined {
  if (limits === null) return null;
  if (!Array.isArray(limits) || limits.length !== 3) return undefined;
  if (!limits.every((each) => each === null || isList(each))) return undefined;
  const [permissions, stacks, containers] = limits;
  return { ...UNLIMITED, permissions, stacks, containers };
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= VALUE_MAX;

const isList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= LIST_MAX && value.every(isText);

function signedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(DOMAIN.length + bytes.length);
  encoder.encodeInto(DOMAIN, all);
  all.set(bytes, DOMAIN.length);
  return all;
}

/** The digest of a body, as notes have it. */
export async function digestOf(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", body)).toBase64(BASE64);
}
