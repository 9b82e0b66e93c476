/**
 * The client's side of a WebSocket over a stream of a link (RFC 6455). The runtime's client opens its
 * connections itself, and reads as fast as it can, whatever the reader does.
 *
 * @module
 */

import type { ByteReader } from "../../../engine/byte_reader.ts";
import type { Connection } from "../../../engine/http.ts";

/** Largest message, in bytes. */
const MESSAGE_MAX = 1024 * 1024;

/** Cost of a piece of a message beyond its bytes, so that many short ones are limited, too. */
const PIECE_COST = 256;

const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A message, or the end of the connection. */
export type Received =
  | { text: string }
  | { binary: Uint8Array<ArrayBuffer> }
  | { close: { code: number; reason: string } };

/** The code of a connection that ended without one. */
export const ABNORMAL = 1006;

export interface StreamWebSocket {
  /** The next message. Answers pings meanwhile. @throws For what is not a frame. */
  receive(): Promise<Received>;
  send(message: string | Uint8Array): Promise<void>;
  /** Sends the end. @param code 1000, 1001 or 3000 to 4999, or `undefined` for none. */
  sendClose(code?: number): Promise<void>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Headers of the handshake besides those of the request. */
export const handshakeHeaders = (): Record<string, string> => ({
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": crypto.getRandomValues(new Uint8Array(16)).toBase64(),
});

/** Speaks over a connection whose handshake the host has accepted. */
export function createStreamWebSocket(connection: Connection): StreamWebSocket {
  const { reader } = connection;
  let lastWrite: Promise<void> = Promise.resolve();

  /** Frames of messages and pongs must not be mixed. */
  function write(opcode: number, payload: Uint8Array): Promise<void> {
    const frame = maskedFrame(opcode, payload);
    return lastWrite = lastWrite.then(() => connection.writeAll(frame));
  }

  return {
    async receive() {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      let kind: number | undefined;
      let size = 0;
      for (;;) {
        const frame = await readFrame(reader, Math.max(0, MESSAGE_MAX - size));
        if (frame === undefined) return { close: { code: ABNORMAL, reason: "" } };
        const { opcode, payload, isFinal } = frame;
        if (opcode === OPCODE.close) return { close: closeOf(payload) };
        if (opcode === OPCODE.ping) await write(OPCODE.pong, payload);
        if (opcode > OPCODE.binary) continue;
        if ((opcode === OPCODE.continuation) !== (kind !== undefined)) throw malformed();
        kind ??= opcode;
        if (payload.length > 0) {
          size += payload.length + PIECE_COST;
          pieces.push(payload);
        }
        if (!isFinal) continue;
        const bytes = pieces.length === 1 ? pieces[0]! : await new Blob(pieces).bytes();
        return kind === OPCODE.text ? { text: decoder.decode(bytes) } : { binary: bytes };
      }
    },
    send: (message) =>
      typeof message === "string"
        ? write(OPCODE.text, encoder.encode(message))
        : write(OPCODE.binary, message),
    sendClose: (code) =>
      write(
        OPCODE.close,
        code === undefined ? new Uint8Array() : new Uint8Array([code >> 8, code & 0xff]),
      ),
  };
}

interface Frame {
  opcode: number;
  isFinal: boolean;
  payload: Uint8Array<ArrayBuffer>;
}

/** @returns `undefined` at the end of the connection. */
async function readFrame(reader: ByteReader, max: number): Promise<Frame | undefined> {
  const head = await readExactly(reader, 2);
  if (!head) return undefined;
  const [first, second] = head as unknown as [number, number];
  const opcode = first & 0x0f;
  const isFinal = (first & 0x80) !== 0;
  const isControl = opcode >= OPCODE.close;
  const isKnown = opcode <= OPCODE.binary || opcode >= OPCODE.close && opcode <= OPCODE.pong;
  // Without an extension, its bits are 0; and a server does not mask.
  if (!isKnown || (first & 0x70) !== 0 || (second & 0x80) !== 0) throw malformed();
  const length = await readLength(reader, second);
  if (length === undefined) return undefined;
  if (length > (isControl ? 125 : max) || isControl && !isFinal) throw malformed();
  const payload = await readExactly(reader, length);
  return payload && { opcode, isFinal, payload };
}

/** Short lengths are in the second byte, longer ones in the 2 or 8 bytes after it. */
async function readLength(reader: ByteReader, second: number): Promise<number | undefined> {
  if (second < 126) return second;
  const bytes = await readExactly(reader, second === 126 ? 2 : 8);
  return bytes?.reduce((length, byte) => length * 256 + byte, 0);
}

async function readExactly(
  reader: ByteReader,
  length: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await reader.readInto(bytes.subarray(at));
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

function closeOf(payload: Uint8Array): { code: number; reason: string } {
  if (payload.length < 2) return { code: 1005, reason: "" };
  const code = payload[0]! * 256 + payload[1]!;
  return { code, reason: decoder.decode(payload.subarray(2)) };
}

function maskedFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(2 + extended + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  for (let at = 0, rest = length; at < extended; at++, rest = Math.floor(rest / 256)) {
    frame[1 + extended - at] = rest % 256;
  }
  const mask = frame.subarray(2 + extended, 6 + extended);
  crypto.getRandomValues(mask);
  const body = frame.subarray(6 + extended);
  for (let at = 0; at < length; at++) body[at] = payload[at]! ^ mask[at & 3]!;
  return frame;
}

const malformed = () => new TypeError("The host sent an invalid WebSocket frame");
