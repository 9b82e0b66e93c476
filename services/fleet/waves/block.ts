/**
 * A block: an image that failed on a host of the fleet, or that a person has allowed again. The hub
 * signs each one with its key for notes, so that its members can give it back after a restore.
 *
 * @module
 */

import * as z from "zod";
import type { CheckSignature, Sign } from "../notes/note.ts";

/** Limits of a block: its bytes as JSON, so that it fits into a control message; lines and verdicts. */
const BYTES_MAX = 2_800;
const LOG_LINES_MAX = 8;
const LOG_LINE_MAX = 160;
const VERDICTS_MAX = 20;

/** Separates signatures of blocks from others with the same key. */
const DOMAIN = "longshore-block-v1\n";

const BASE64 = { alphabet: "base64url", omitPadding: true } as const;

/** An image, as verdicts and blocks name it. */
export interface ImageKey {
  /** Of the manifest, or the image's id. */
  digest: string;
  /** E.g. `linux/amd64`. */
  platform: string;
}

export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const Platform = z.string().regex(/^[a-z0-9]{1,20}\/[a-z0-9_]{1,20}$/);

const Shape = z.object({
  digest: Digest,
  platform: Platform,
  /** Grows with each change of any block. */
  number: z.int().min(1),
  /** False after a person has lifted it. */
  isBlocked: z.boolean(),
  /** The reference that the host has updated to. */
  image: z.string(),
  /** Name of the host on which it failed. */
  host: z.string(),
  /** Its id, which is empty for the hub; missing in blocks of older versions. */
  hostId: z.string().optional(),
  /** Container that failed there. */
  container: z.string(),
  reason: z.string(),
  /** The last lines of the container. */
  log: z.array(z.string()),
  /** ISO 8601, UTC, by the clock of the hub. */
  at: z.string(),
  /** Ids of the verdicts that a person knew who lifted it: they do not block it again. */
  verdicts: z.array(z.string()),
});

export type Block = z.output<typeof Shape>;

/** Whether verdicts can be about it. */
export const isImageKey = ({ digest, platform }: ImageKey): boolean =>
  Digest.safeParse(digest).success && Platform.safeParse(platform).success;

export const keyOf = ({ digest, platform }: ImageKey): string => `${digest} ${platform}`;

const encoder = new TextEncoder();

/** The block as text with the signature of the hub. Lines of the log that do not fit are left out. */
export async function sealBlock(sign: Sign, block: Block): Promise<string> {
  const log = block.log.slice(-LOG_LINES_MAX).map((line) => line.slice(0, LOG_LINE_MAX));
  const verdicts = block.verdicts.slice(0, VERDICTS_MAX);
  let bytes = encoder.encode(JSON.stringify({ ...block, log, verdicts }));
  while (bytes.length > BYTES_MAX && log.length > 0) {
    log.shift();
    bytes = encoder.encode(JSON.stringify({ ...block, log, verdicts }));
  }
  const signature = await sign(signedBytes(bytes));
  return `${bytes.toBase64(BASE64)}.${signature.toBase64(BASE64)}`;
}

/** The block with a signature of another key, for a host that does not know the one that it has. */
export async function resealBlock(sign: Sign, text: string): Promise<string> {
  const [content = ""] = text.split(".");
  const signature = await sign(signedBytes(Uint8Array.fromBase64(content, BASE64)));
  return `${content}.${signature.toBase64(BASE64)}`;
}

/** Reads a block that the hub has signed; `undefined` for anything else. */
export async function openBlock(check: CheckSignature, text: string): Promise<Block | undefined> {
  const [content = "", signature = ""] = text.split(".");
  try {
    const bytes = Uint8Array.fromBase64(content, BASE64);
    const signed = Uint8Array.fromBase64(signature, BASE64);
    return await check(signed, signedBytes(bytes)) ? readBytes(bytes) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a block whose signature was checked before it was stored. */
export const readBlock = (text: string): Block =>
  readBytes(Uint8Array.fromBase64(text.split(".")[0]!, BASE64));

/** The reason why an image may not be installed. Its log is for callers who may read logs. */
export const describeBlock = ({ host, reason }: Block): string =>
  `The fleet has blocked this image, because it failed on host ${host}: ${reason}`;

const readBytes = (bytes: Uint8Array): Block =>
  Shape.parse(JSON.parse(new TextDecoder().decode(bytes)));

function signedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(DOMAIN.length + bytes.length);
  encoder.encodeInto(DOMAIN, all);
  all.set(bytes, DOMAIN.length);
  return all;
}
