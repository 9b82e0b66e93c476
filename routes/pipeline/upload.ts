/**
 * Bodies of requests that are too large for memory. An endpoint with `upload` gets the body as a
 * stream and has to read it at the pace of its destination.
 *
 * @module
 */

import { AppError } from "../../services/errors.ts";
import { intakeOf } from "../../services/stream/intake.ts";
import { pacedReader, type PieceReader, streamReader } from "./body_pace.ts";

/** Types and sizes that an endpoint accepts. */
export interface UploadLimits {
  /** Media types. A body without a type is accepted as well. */
  types: readonly string[];
  bytesMax: () => number;
}

/** Longest silence of a client, in milliseconds. Its archive may still be in the making. */
const IDLE_MAX_MS = 60_000;

/** Time after which the caller of an upload is checked again, in milliseconds. */
const CHECK_MS = 1_000;

/**
 * Checks what is known before the body is read.
 *
 * @throws {AppError} `unsupported_media_type`; `too_large`.
 */
export function checkUpload({ headers }: Request, { types, bytesMax }: UploadLimits): void {
  const given = headers.get("content-type");
  const type = given?.replace(/;.*/s, "").trim().toLowerCase();
  if (type !== undefined && !types.includes(type)) {
    throw new AppError(
      "unsupported_media_type",
      `Expected a body of type ${types[0]}, not ${given!.slice(0, 100)}`,
    );
  }
  if ((lengthOf(headers) ?? 0) > bytesMax()) throw tooLarge(bytesMax());
}

/** The announced length of the body, in bytes; `null` if it is unknown. */
export function lengthOf(headers: Headers): number | null {
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}

const tooLarge = (bytesMax: number) =>
  new AppError("too_large", `The body is larger than ${bytesMax} bytes`);

/** Size of the buffer that an upload is read into, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** Reads every piece into the same buffer, because the garbage of a large upload is 20 MB. */
function pieceReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): PieceReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    // The body of a request that did not come from a connection.
    return streamReader(body);
  }
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (value) buffer = value.buffer as ArrayBuffer;
      return done ? undefined : value;
    },
    cancel: () => reader.cancel(),
  };
}

/**
 * Reads the body of a request within its limits. Only the time that the client takes is limited, not
 * the time that the reader takes. A piece is valid until the next read. The stream fails with an
 * {@linkcode AppError}: `too_large`, or `invalid` for a body that is incomplete or arrives too slowly.
 *
 * @param options.assertAllowed Checks the caller again, about once a second and before the end: an
 * upload may take minutes, in which its caller loses the right to send it. The stream fails with its
 * error.
 * @param options.idleMaxMs Longest silence of the client, also before its first piece, in milliseconds.
 * @param options.onDisconnect Called before the stream fails because the client disconnected.
 * @param options.now A monotonic clock in milliseconds.
 */
export function readUpload(
  request: Pick<Request, "body">,
  { bytesMax, assertAllowed, onDisconnect, idleMaxMs = IDLE_MAX_MS, now = () => performance.now() }:
    {
      bytesMax: number;
      assertAllowed: () => Promise<void>;
      onDisconnect?: (() => void) | undefined;
      idleMaxMs?: number;
      now?: () => number;
    },
): ReadableStream<Uint8Array> {
  const { body } = request;
  const intake = intakeOf(request);
  const reader = body &&
    pacedReader(pieceReader(body), { idleMaxMs, patienceMs: idleMaxMs, now, onDisconnect });
  let received = 0;
  let checkedAt = now();

  const check = async (piece: Uint8Array | undefined) => {
    received += piece?.length ?? 0;
    if (received > bytesMax) throw tooLarge(bytesMax);
    if (piece && now() - checkedAt < CHECK_MS) return;
    await assertAllowed();
    checkedAt = now();
  };

  const cancel = () => {
    intake?.end();
    return reader?.cancel();
  };

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      intake?.open();
      const piece = await reader?.read();
      try {
        await check(piece);
      } catch (refusal) {
        void cancel()?.catch(() => {});
        throw refusal;
      }
      if (!piece) return controller.close();
      intake?.close();
      controller.enqueue(piece);
    },
    cancel,
  }, { highWaterMark: 0 });
}
