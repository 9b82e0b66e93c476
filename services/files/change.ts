/** Writes, renames and deletes files of volumes, containers and stacks. @module */

import { Buffer } from "node:buffer";
import type { Holder } from "../access/shares.ts";
import type { ByteString } from "../backup/restic/entry.ts";
import { type Condition, replaceContent } from "../backup/volumes/content.ts";
import { deletePath, makeDirectory, renamePath } from "../backup/volumes/operations.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { encodePath } from "../snapshots/file_path.ts";
import { etagOf } from "./download.ts";
import type { FileView } from "../snapshots/file_view.ts";
import { viewOf } from "./listing.ts";
import type { Place } from "./place.ts";
import { type FileDeps, type FindPlace, parsePath, within } from "./request.ts";

/** Longest change but a write, in milliseconds. */
const CHANGE_MS = 10 * 60_000;

type ChangeDeps = FileDeps & Pick<Deps, "reservations">;

export interface WrittenFile extends FileView {
  /** Of a text, for the next change. */
  etag: string | null;
  runningContainers: string[];
}

interface WriteRequest {
  path: string;
  content: ReadableStream<Uint8Array>;
  condition: Condition | undefined;
  /** Of the client's connection. */
  signal: AbortSignal;
}

/** Time in which a script removes an incomplete file after its client has left, in milliseconds. */
const CLEANUP_MS = 30_000;

/** A signal that aborts some time after another one, unless it is disposed before. */
function abortLater(first: AbortSignal): Disposable & { signal: AbortSignal } {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => timer = setTimeout(() => ending.abort(), CLEANUP_MS);
  first.addEventListener("abort", wait);
  return {
    signal: ending.signal,
    [Symbol.dispose]() {
      first.removeEventListener("abort", wait);
      clearTimeout(timer);
    },
  };
}

/**
 * Replaces a text, or creates one.
 *
 * @throws {AppError} As {@linkcode uploadFile}; `invalid` for what is not UTF-8.
 */
export async function writeText(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  { content, ...request }: WriteRequest & { condition: Condition },
): Promise<WrittenFile> {
  const text = Buffer.concat(await Array.fromAsync(content, (piece) => piece.slice()));
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    throw new AppError("invalid", "body: must be text in UTF-8; send other files as uploads");
  }
  const stream = ReadableStream.from([new Uint8Array(text)]);
  const given = { ...request, content: stream, size: text.length };
  return { ...await uploadFile(deps, caller, find, given), etag: etagOf(text) };
}

/**
 * Stores a file of any size. Readers see the old content or the new one.
 *
 * @param size In bytes.
 * @throws {AppError} As `listFiles()`; `precondition_failed`; the error of the content.
 */
export async function uploadFile(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  { path, content, size, condition, signal }: WriteRequest & { size: number },
): Promise<WrittenFile> {
  const bytes = changedPath(path);
  const release = deps.limiters.fileTransfers.take(caller);
  using ending = abortLater(signal);
  try {
    const place = await find(ending.signal);
    using _ = reserve(deps, place, [bytes]);
    const next = { stream: content, size, condition };
    const written = await within(
      deps,
      place,
      async () =>
        await replaceContent(await place.shell(ending.signal), bytes, next, ending.signal),
    );
    return {
      ...viewOf(bytes.slice(0, Math.max(0, bytes.lastIndexOf("/"))), written),
      etag: null,
      runningContainers: place.runningContainers,
    };
  } finally {
    release();
    if (!content.locked) void content.cancel().catch(() => {});
  }
}

/** @throws {AppError} As `listFiles()`. */
export function deleteFile(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  { path }: { path: string },
): Promise<void> {
  return change(
    deps,
    caller,
    find,
    [path],
    (shell, [bytes], signal) => deletePath(shell, bytes!, signal),
  );
}

/** @throws {AppError} As `listFiles()`; `conflict` if the new path exists. */
export function renameFile(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  { path, to }: { path: string; to: string },
): Promise<void> {
  return change(
    deps,
    caller,
    find,
    [path, to],
    (shell, [from, to], signal) => renamePath(shell, { from: from!, to: to! }, signal),
  );
}

/** @throws {AppError} As {@linkcode renameFile}. */
export function createFolder(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  { path }: { path: string },
): Promise<void> {
  return change(
    deps,
    caller,
    find,
    [path],
    (shell, [bytes], signal) => makeDirectory(shell, bytes!, signal),
  );
}

/** @throws {AppError} `invalid`, also for the root. */
function changedPath(path: string): ByteString {
  const bytes = parsePath(path);
  if (bytes === "") throw new AppError("invalid", "The root directory cannot be changed");
  return bytes;
}

async function change(
  deps: ChangeDeps,
  caller: Holder,
  find: FindPlace,
  requested: readonly string[],
  work: (
    shell: Awaited<ReturnType<Place["shell"]>>,
    paths: readonly ByteString[],
    signal: AbortSignal,
  ) => Promise<void>,
): Promise<void> {
  const paths = requested.map(changedPath);
  await deps.limiters.fileRequests(caller, async () => {
    const signal = AbortSignal.timeout(CHANGE_MS);
    const place = await find(signal);
    using _ = reserve(deps, place, paths);
    await within(deps, place, async () => await work(await place.shell(signal), paths, signal));
  });
}

/** Reserves the containers that use the files, and the files themselves: each has one writer. */
function reserve(
  { reservations }: Pick<Deps, "reservations">,
  place: Place,
  paths: readonly ByteString[],
): Disposable {
  for (const path of paths) place.assertAllowed(path, "change");
  const stack = new DisposableStack();
  try {
    stack.use(place.reserve());
    for (const path of new Set(paths)) {
      const name = `/${encodePath(path)} of ${place.name}`;
      stack.use(reservations.reserve({ id: `${place.id} /${path}`, name }, "written"));
    }
    return stack;
  } catch (error) {
    stack.dispose();
    throw error;
  }
}
