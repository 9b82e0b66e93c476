/**
 * Data blobs in the order of their use, read ahead: up to 12 MiB, with one read for blobs that are
 * near each other in a pack.
 *
 * @module
 */

import { decodeBlob, plainLength } from "./blob.ts";
import { free } from "./buffers.ts";
import { isLoss, loadBlob } from "./blob_reader.ts";
import type { Entry } from "./entry.ts";
import type { EntryPart } from "./entry_parts.ts";
import { type Id, short } from "./id.ts";
import type { LocatedBlob, MasterIndex } from "./master_index.ts";
import { damaged } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Plain bytes that are read ahead. */
const AHEAD_BYTES = 12 * 1024 * 1024;

/** Steps that are read ahead, for many small files. */
const AHEAD_STEPS = 2_000;

/** Bytes of one read. */
const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes between blobs that are read and not used. */
const GAP_BYTES_MAX = 64 * 1024;

/** A step of a walk through files: an entry, or a data blob of the one before. */
export type Step = { entry: Entry } | { blob: Id };

interface Request {
  blob: LocatedBlob;
  /** Steps that wait for it. */
  uses: number;
  bytes?: Promise<Uint8Array>;
}

/** Yields the steps in their order, with the content of blobs. @throws {RepositoryError} `damaged` */
export async function* loadBlobs(
  files: RepositoryFiles,
  index: MasterIndex,
  steps: AsyncIterable<Step>,
  signal: AbortSignal,
): AsyncGenerator<EntryPart> {
  const iterator = steps[Symbol.asyncIterator]();
  const queue: ({ entry: Entry } | { request: Request })[] = [];
  const requests = new Map<Id, Request>();
  let bytesAhead = 0;
  let isDone = false;

  const requestOf = (id: Id): Request => {
    const known = requests.get(id);
    if (known !== undefined) return known;
    const [blob] = index.find("data", id);
    if (blob === undefined) throw damaged(`Blob ${short(id)}`, "no index has it as data");
    const request = { blob, uses: 0 };
    requests.set(id, request);
    return request;
  };
  const start = (first: Request) => {
    const { pack } = first.blob;
    const group = [...requests.values()].filter(({ blob, bytes }) =>
      bytes === undefined && blob.pack === pack
    );
    const near = nearBlobs(group, first);
    const reading = readTogether(files, near.map(({ blob }) => blob), signal);
    for (const request of near) {
      request.bytes = decodeRead(files, index, request.blob, reading, signal);
      // A failure is thrown where the blob is used.
      request.bytes.catch(() => {});
    }
    const decoding = near.map((request) => request.bytes);
    void Promise.allSettled(decoding).then(() => reading).then(
      ({ bytes }) => free(bytes),
      () => {},
    );
  };
  const readAhead = async () => {
    // Half of it at a time, so that one read gets many blobs.
    if (isDone || (bytesAhead >= AHEAD_BYTES / 2 && queue.length > 0)) return;
    if (queue.length >= AHEAD_STEPS / 2) return;
    while (!isDone && bytesAhead < AHEAD_BYTES && queue.length < AHEAD_STEPS) {
      const next = await iterator.next();
      if (next.done) {
        isDone = true;
      } else if ("entry" in next.value) {
        queue.push(next.value);
      } else {
        const request = requestOf(next.value.blob);
        request.uses += 1;
        bytesAhead += plainLength(request.blob);
        queue.push({ request });
      }
    }
    for (const request of requests.values()) if (request.bytes === undefined) start(request);
  };

  try {
    for (;;) {
      signal.throwIfAborted();
      await readAhead();
      const step = queue.shift();
      if (step === undefined) return;
      if ("entry" in step) {
        yield step;
        continue;
      }
      const { request } = step;
      const bytes = await request.bytes!;
      bytesAhead -= plainLength(request.blob);
      request.uses -= 1;
      if (request.uses === 0) requests.delete(request.blob.id);
      // Bytes that are needed again stay here.
      yield { bytes: request.uses === 0 ? bytes : bytes.slice() };
    }
  } finally {
    await iterator.return?.();
  }
}

/** The largest group around `first` that one read gets. */
function nearBlobs(group: Request[], first: Request): Request[] {
  const sorted = group.sort((a, b) => a.blob.offset - b.blob.offset);
  let start = sorted.indexOf(first);
  let end = start + 1;
  const endOf = ({ blob }: Request) => blob.offset + blob.length;
  const fits = (from: Request, to: Request) => endOf(to) - from.blob.offset <= READ_BYTES_MAX;
  const isNear = (a: Request, b: Request) => b.blob.offset - endOf(a) <= GAP_BYTES_MAX;
  while (
    end < sorted.length && isNear(sorted[end - 1]!, sorted[end]!) && fits(first, sorted[end]!)
  ) {
    end += 1;
  }
  const last = sorted[end - 1]!;
  while (
    start > 0 && isNear(sorted[start - 1]!, sorted[start]!) && fits(sorted[start - 1]!, last)
  ) {
    start -= 1;
  }
  return sorted.slice(start, end);
}

/** Part of a pack. */
interface PackPart {
  offset: number;
  bytes: Uint8Array;
}

/** @param blobs In the order of their offsets, all in one pack. */
async function readTogether(
  { storage }: RepositoryFiles,
  blobs: readonly LocatedBlob[],
  signal: AbortSignal,
): Promise<PackPart> {
  const [first, last] = [blobs[0]!, blobs[blobs.length - 1]!];
  const { offset } = first;
  const length = last.offset + last.length - offset;
  return { offset, bytes: await storage.read("data", first.pack, signal, { offset, length }) };
}

async function decodeRead(
  files: RepositoryFiles,
  index: MasterIndex,
  blob: LocatedBlob,
  reading: Promise<PackPart>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    const { offset, bytes } = await reading;
    const start = blob.offset - offset;
    return await decodeBlob(files, blob, bytes.subarray(start, start + blob.length));
  } catch (error) {
    if (!isLoss(error)) throw error;
    return await loadBlob(files, index, "data", blob.id, signal);
  }
}
