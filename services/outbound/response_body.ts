/** Bodies of responses, each with a limit. @module */

import type { IncomingMessage } from "node:http";
import { nodeZlib } from "../builtins.ts";
import { withDeadline } from "../deadline.ts";
import { OutboundError } from "./error.ts";

/** Handling of a body that is larger than its limit. */
export type BodyOver = "fail" | "cut" | "optional";

/** Wait for an optional body, in milliseconds. */
const OPTIONAL_BODY_MS = 1_000;

const CODINGS = new Set(["gzip", "x-gzip", "deflate", "br"]);

/**
 * Reads up to `max` bytes of a body.
 *
 * @param over Handling of a larger body; an `optional` one also may be late or break off.
 * @throws {OutboundError} `too_large`
 */
export async function readBody(
  response: IncomingMessage,
  max: number,
  over: BodyOver,
): Promise<Uint8Array<ArrayBuffer>> {
  // A caller that needs nothing of the body does not wait for it.
  if (max === 0 && over !== "fail") return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  const reading = readPieces(response, max, over, pieces);
  if (over === "optional") await withDeadline(reading.catch(() => {}), OPTIONAL_BODY_MS);
  else await reading;
  return joined(pieces, max);
}

/** Without a second copy, because a body may be large; `Buffer.concat()` makes one whose `slice()` copies nothing. */
function joined(pieces: readonly Uint8Array[], max: number): Uint8Array<ArrayBuffer> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const body = new Uint8Array(Math.min(length, max));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece.subarray(0, body.length - at), at);
    at = Math.min(at + piece.length, body.length);
  }
  return body;
}

/** Reads up to `max` bytes into `pieces`. */
async function readPieces(
  response: IncomingMessage,
  max: number,
  over: BodyOver,
  pieces: Uint8Array[],
): Promise<void> {
  let length = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > max && over === "fail") {
      throw new OutboundError("too_large", `The answer is larger than the ${max} bytes allowed`);
    }
    pieces.push(piece);
    if (length >= max && over !== "fail") break;
  }
}

/** Some proxies compress what was requested as it is; the unpacked body has the same limit. */
export function unpack(
  body: Uint8Array<ArrayBuffer>,
  encoding: string | undefined,
  max: number,
): Uint8Array<ArrayBuffer> {
  const coding = encoding?.trim().toLowerCase();
  if (body.length === 0 || coding === undefined || !CODINGS.has(coding)) return body;
  const { brotliDecompressSync, unzipSync } = nodeZlib();
  try {
    const unpackCoding = coding === "br" ? brotliDecompressSync : unzipSync;
    return new Uint8Array(unpackCoding(body, { maxOutputLength: max }));
  } catch (cause) {
    if (Object(cause).code === "ERR_BUFFER_TOO_LARGE") {
      throw new OutboundError("too_large", `The answer is larger than the ${max} bytes allowed`);
    }
    throw new OutboundError("network", "The answer is not compressed as it says", { cause });
  }
}
