/**
 * Boxes: requests for a host that is away, which reach it through its link or on a stick. A box is sealed
 * for the key of the host, because it may have values, and signed by its hub:
 *
 *     bytes 0-31  the hub's key for links
 *     then        the message of `Noise_N_25519_AESGCM_SHA256`, 48 bytes
 *     then        sealed messages of at most 65,535 bytes: the head as JSON in a line, then the body
 *
 * The text of a box has these bytes and the Ed25519 signature over them, each as base64url.
 *
 * @module
 */

import * as z from "zod";
import { USER_ROLES } from "../../access/caller.ts";
import { AppError } from "../../errors.ts";
import { toBytes, toText } from "../enrolment/keys.ts";
import { shownText } from "../link/control.ts";
import {
  type Bytes,
  concat,
  createHandshake,
  KEY_BYTES,
  type KeyPair,
  MESSAGE_MAX,
  N,
  TAG_BYTES,
} from "../link/noise.ts";
import type { CheckSignature, Sign } from "../notes/note.ts";

/** Limits of the body of a request and of the text of a box, in bytes. */
export const BODY_BYTES_MAX = 512 * 1024;
export const BOX_TEXT_MAX = 1_000_000;

const MARK = "lsbox_";
const HANDSHAKE_BYTES = KEY_BYTES + TAG_BYTES;
const CHUNK_BYTES = MESSAGE_MAX - TAG_BYTES;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Separates signatures of boxes from others with the same key, and boxes from links. */
const DOMAIN = encoder.encode("longshore-box-v1\n");

const Text = z.string().max(4_096);
/** `longshore fleet import` prints them. */
const Shown = shownText(4_096);
const Limits = z.array(Text).max(500).readonly().nullable();

const Head = z.object({
  /** Random; a host runs it once. */
  id: z.uuid(),
  /** Keys for links of both sides, base64url. */
  hub: Text,
  host: Text,
  /** Id and name of the user at the hub. */
  user: Text,
  name: Shown,
  role: z.enum(USER_ROLES),
  /** Limits of the API token; `null` for a login. */
  scope: z.object({ permissions: Limits, stacks: Limits, containers: Limits }).nullable(),
  method: z.enum(["POST", "PUT"]),
  path: Shown,
  /** Ids of containers by name, which must be as they were; `null` if the body has a version. */
  base: z.record(Text, Text).nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

/** A request in a box. Times are ISO 8601, UTC. */
export type BoxHead = z.output<typeof Head>;
export interface BoxedRequest extends BoxHead {
  body: string;
}

/** @returns The text of a box, which only the host can read. */
export async function sealBox(sign: Sign, { body, ...head }: BoxedRequest): Promise<string> {
  const handshake = createHandshake(N, {
    isInitiator: true,
    prologue: DOMAIN,
    peerKey: toBytes(head.host),
  });
  const parts: Bytes[] = [toBytes(head.hub), await handshake.write()];
  const { send } = await handshake.finish();
  const plain = encoder.encode(`${JSON.stringify(head)}\n${body}`);
  for (let at = 0; at < plain.length; at += CHUNK_BYTES) {
    parts.push(await send.encrypt(plain.subarray(at, at + CHUNK_BYTES)));
  }
  const bytes = concat(...parts);
  const signature = await sign(concat(DOMAIN, bytes));
  return `${MARK}${toText(bytes)}.${toText(signature as Bytes)}`;
}

/** Keys with which a host opens a box. */
export interface BoxKeys {
  own: KeyPair;
  hub: { key: string; check: CheckSignature };
}

/** @throws {AppError} `invalid` with the reason; the message does not quote the text. */
export async function openBox({ own, hub }: BoxKeys, text: string): Promise<BoxedRequest> {
  const { bytes, signature } = bytesOf(text);
  const signer = toText(bytes.subarray(0, KEY_BYTES));
  if (signer !== hub.key) throw invalid("The box is from another hub");
  if (!await hub.check(signature, concat(DOMAIN, bytes))) {
    throw invalid("The box was changed, or the hub did not sign it");
  }
  const { head, body } = parse(await unseal(own, bytes.subarray(KEY_BYTES)));
  if (head.hub !== hub.key || head.host !== toText(own.publicKey)) {
    throw invalid("The box names another hub or host");
  }
  return { ...head, body };
}

function bytesOf(text: string): { bytes: Bytes; signature: Bytes } {
  const [content = "", signature = "", ...rest] = text.slice(MARK.length).split(".");
  const isBox = text.startsWith(MARK) && rest.length === 0 && text.length <= BOX_TEXT_MAX;
  try {
    if (isBox) return { bytes: toBytes(content), signature: toBytes(signature) };
  } catch {
    // It is not base64url.
  }
  throw invalid("The text is not a box of this version");
}

async function unseal(own: KeyPair, sealed: Bytes): Promise<string> {
  try {
    const handshake = createHandshake(N, { isInitiator: false, prologue: DOMAIN, keys: own });
    await handshake.read(sealed.subarray(0, HANDSHAKE_BYTES));
    const { receive } = await handshake.finish();
    const parts: Bytes[] = [];
    for (let at = HANDSHAKE_BYTES; at < sealed.length; at += MESSAGE_MAX) {
      parts.push(await receive.decrypt(sealed.subarray(at, at + MESSAGE_MAX)));
    }
    return decoder.decode(concat(...parts));
  } catch (cause) {
    throw invalid("The box is for another host, or the keys of this host were made again", cause);
  }
}

function parse(plain: string): { head: BoxHead; body: string } {
  const end = plain.indexOf("\n");
  try {
    return { head: Head.parse(JSON.parse(plain.slice(0, end))), body: plain.slice(end + 1) };
  } catch (cause) {
    throw invalid("The box has a request of another version", cause);
  }
}

const invalid = (message: string, cause?: unknown) => new AppError("invalid", message, { cause });
