/** Downloads files of volumes, containers and stacks, or a range of one. @module */

import { Buffer } from "node:buffer";
import type { Holder } from "../access/shares.ts";
import type { OpenFile } from "../backup/volumes/content.ts";
import { nodeCrypto } from "../builtins.ts";
import { fileName } from "../snapshots/file_path.ts";
import { readStream } from "../stream/read_stream.ts";
import { type FileDeps, type FindPlace, parsePath, within } from "./request.ts";

/** Largest file that is edited as text, in bytes. */
export const TEXT_BYTES_MAX = 1024 * 1024;

/** Bytes that a request wants of a file: the first one, or the last ones if it is negative. */
export interface Range {
  from: number;
  /** Last byte. */
  to?: number | undefined;
}

export interface Download {
  /** For people. */
  name: string;
  /** Of the whole file, in bytes. */
  size: number;
  /** First byte of `body`, and number of its bytes; none for a range outside of the file. */
  start: number;
  length: number;
  /** Of the content of files up to 1 MiB. */
  etag: string | undefined;
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;
}

/**
 * Opens a download. What a file up to 1 MiB has is read at once.
 *
 * @param range Default: the whole file.
 * @param condition ETag that the file must have for the range; else it is sent whole.
 * @throws {AppError} As `listFiles()`; `conflict` for what is not a regular file;
 * `too_many_requests`.
 */
export async function openDownload(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  { path, range, condition, signal }: {
    path: string;
    range?: Range | undefined;
    condition?: string | undefined;
    signal: AbortSignal;
  },
): Promise<Download> {
  const bytes = parsePath(path);
  const release = deps.limiters.fileTransfers.take(caller);
  let file: OpenFile | undefined;
  const end = () => {
    file?.close();
    release();
  };
  try {
    const place = await find(signal);
    place.assertAllowed(bytes, "read");
    // The ETag is that of the whole content.
    const from = condition === undefined ? range?.from ?? 0 : 0;
    file = await within(deps, place, () => place.open(bytes, from, signal));
    const { info: { size }, content } = file;
    const name = fileName(path);
    if (size <= TEXT_BYTES_MAX && from === 0) {
      const whole = new Uint8Array(Buffer.concat(await Array.fromAsync(content)));
      end();
      const etag = etagOf(whole);
      const wanted = condition === undefined || condition === etag ? range : undefined;
      const part = partOf(size, wanted);
      return {
        ...{ name, size, etag },
        ...part,
        body: whole.subarray(part.start).slice(0, part.length),
      };
    }
    const part = partOf(size, condition === undefined ? range : undefined);
    if (part.length === 0) end();
    return {
      ...{ name, size, etag: undefined },
      ...part,
      body: streamOf(content, part.length, end),
    };
  } catch (error) {
    end();
    throw error;
  }
}

function partOf(size: number, range: Range | undefined): { start: number; length: number } {
  const { from, to = size - 1 } = range ?? { from: 0 };
  const start = from < 0 ? Math.max(0, size + from) : Math.min(from, size);
  return { start, length: Math.max(0, Math.min(to, size - 1) - start + 1) };
}

function streamOf(
  content: AsyncGenerator<Uint8Array, void>,
  length: number,
  end: () => void,
): ReadableStream<Uint8Array> {
  let left = length;
  return readStream(async () => {
    if (left === 0) return undefined;
    const { done, value } = await content.next();
    if (done) return undefined;
    const piece = value.subarray(0, left);
    left -= piece.length;
    return piece;
  }, end);
}

export const etagOf = (bytes: Uint8Array) => `"${sha256(bytes)}"`;

const sha256 = (bytes: Uint8Array) => nodeCrypto().createHash("sha256").update(bytes).digest("hex");
