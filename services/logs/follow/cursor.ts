/**
 * Cursors of log streams: the ids of frames, with which a client continues after a lost connection.
 * They contain everything that is needed, so that they are still valid after a restart.
 *
 * @module
 */

import type { Position } from "./position.ts";

/** Position at which a stream continues. */
interface Cursor {
  /** When the frame was sent, in Unix seconds. */
  at: number;
  /** By the first 16 digits of the container's id; `null` if its log was empty. */
  positions: ReadonlyMap<string, Position | null>;
}

/** Digits of a container's id in a cursor. */
const ID_DIGITS = 16;

/** Maximum length of a cursor's text; it has about 30 characters for each container. */
const TEXT_MAX = 8_192;

const VERSION = 1;
const HEAD_BYTES = 5;
const ENTRY_BYTES = 21;

const HAS_POSITION = 1;
const IS_STDERR = 2;

/** The key of a container in a cursor. */
export const cursorKey = (containerId: string) => containerId.slice(0, ID_DIGITS);

/** Encodes a cursor as text for the id of a frame. */
export function encodeCursor({ at, positions }: Cursor): string {
  const bytes = new Uint8Array(HEAD_BYTES + positions.size * ENTRY_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint32(1, at);
  let offset = HEAD_BYTES;
  for (const [key, position] of positions) {
    view.setUint32(offset, parseInt(key.slice(0, 8), 16));
    view.setUint32(offset + 4, parseInt(key.slice(8), 16));
    if (position) {
      view.setUint8(offset + 8, HAS_POSITION | (position.stream === "stderr" ? IS_STDERR : 0));
      view.setUint32(offset + 9, position.seconds);
      view.setUint32(offset + 13, position.nanos);
      view.setUint32(offset + 17, position.ordinal);
    }
    offset += ENTRY_BYTES;
  }
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Decodes a cursor; `undefined` if the text is not one. */
export function decodeCursor(text: string): Cursor | undefined {
  const bytes = text.length <= TEXT_MAX ? decoded(text) : undefined;
  if (!bytes || bytes.length < HEAD_BYTES || bytes[0] !== VERSION) return undefined;
  if ((bytes.length - HEAD_BYTES) % ENTRY_BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const positions = new Map<string, Position | null>();
  const hex = (offset: number) => view.getUint32(offset).toString(16).padStart(8, "0");
  for (let offset = HEAD_BYTES; offset < bytes.length; offset += ENTRY_BYTES) {
    const flags = view.getUint8(offset + 8);
    const position: Position = {
      stream: flags & IS_STDERR ? "stderr" : "stdout",
      seconds: view.getUint32(offset + 9),
      nanos: view.getUint32(offset + 13),
      ordinal: view.getUint32(offset + 17),
    };
    if (position.nanos > 999_999_999) return undefined;
    positions.set(hex(offset) + hex(offset + 4), flags & HAS_POSITION ? position : null);
  }
  return { at: view.getUint32(1), positions };
}

function decoded(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined;
  }
}
