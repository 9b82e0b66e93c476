/** Lists, reads and changes files of volumes, containers and stacks. @module */

import { nodeCrypto } from "../builtins.ts";
import { Buffer } from "node:buffer";
import type { Holder } from "../access/shares.ts";
import type { ByteString } from "../backup/restic/entry.ts";
import { type Condition, type OpenFile, replaceContent } from "../backup/volumes/content.ts";
import { assertPath, TreeError } from "../backup/volumes/limits.ts";
import type { ListedFile } from "../backup/volumes/listing.ts";
import { deletePath, makeDirectory, renamePath } from "../backup/volumes/operations.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { decodePath, encodePath, fileName } from "../snapshots/file_path.ts";
import { readStream } from "../stream/read_stream.ts";
import { withoutValuesOf } from "../backup/volumes/secret_values.ts";
import type { Place } from "./place.ts";

/** Largest file that is edited as text, in bytes. */
export const TEXT_BYTES_MAX = 1024 * 1024;

/** Longest listing with the start of a container, and longest change, in milliseconds. */
const LIST_MS = 60_000;
const CHANGE_MS = 10 * 60_000;

type FileDeps = Pick<Deps, "engine" | "limiters" | "reservations">;

/** A file as requests show it. */
export interface FileView {
  /** Last part of the path. */
  name: string;
  /** As further requests give it. */
  path: string;
  type: ListedFile["type"];
  /** In bytes. */
  size: number;
  /** Octal. */
  mode: string;
  uid: number;
  gid: number;
  /** ISO 8601, UTC. */
  modifiedAt: string;
}

export interface FileList {
  files: FileView[];
  /** Whether there are more. */
  truncated: boolean;
  runningContainers: string[];
}

/** Finds the place of a request. */
export type FindPlace = (signal: AbortSignal) => Promise<Place>;

/** @throws {AppError} `not_found`; `invalid`; `conflict`; `forbidden`. */
export async function listFiles(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  path: string,
): Promise<FileList> {
  return await deps.limiters.fileRequests(caller, async () => {
    const signal = AbortSignal.timeout(LIST_MS);
    const directory = parsePath(path);
    const place = await find(signal);
    place.assertAllowed(directory, "read");
    const { files, isComplete } = await within(deps, place, () => place.list(directory, signal));
    return {
      files: files.map((file) => viewOf(directory, file)),
      truncated: !isComplete,
      runningContainers: place.runningContainers,
    };
  });
}

/** Does something in a place. Messages of engines and programs are shown without secret values. */
const within = <Result>({ engine }: FileDeps, place: Place, work: () => Promise<Result>) =>
  withoutValuesOf(engine, place.containers, work);

/**
 * Bytes of a path of a request.
 *
 * @throws {AppError} `invalid`
 */
export function parsePath(path: string): ByteString {
  const bytes = decodePath(path).slice(1);
  try {
    if (bytes !== "") assertPath(bytes);
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    throw new AppError("invalid", error.message, { cause: error });
  }
  return bytes;
}

function viewOf(directory: ByteString, file: ListedFile): FileView {
  const { name, type, size, mode, uid, gid, mtime } = file;
  return {
    name: encodePath(name),
    path: `/${encodePath(directory === "" ? name : `${directory}/${name}`)}`,
    ...{ type, size, uid, gid },
    mode: `0${mode.toString(8).padStart(3, "0")}`,
    modifiedAt: timeOf(mtime),
  };
}

/** Years beyond four digits are shown as 1970. */
function timeOf(mtime: bigint): string {
  const ms = Number(mtime / 1_000_000n);
  return new Date(ms >= YEAR_0 && ms < YEAR_10000 ? ms : 0).toISOString();
}

const YEAR_0 = Date.parse("0000-01-01T00:00:00Z");
const YEAR_10000 = Date.UTC(10_000, 0, 1);

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
 * @throws {AppError} As {@linkcode listFiles}; `conflict` for what is not a regular file;
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

const etagOf = (bytes: Uint8Array) => `"${sha256(bytes)}"`;

const sha256 = (bytes: Uint8Array) => nodeCrypto().createHash("sha256").update(bytes).digest("hex");

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
  deps: FileDeps,
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
 * @throws {AppError} As {@linkcode listFiles}; `precondition_failed`; the error of the content.
 */
export async function uploadFile(
  deps: FileDeps,
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

/** @throws {AppError} As {@linkcode listFiles}. */
export function deleteFile(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  { path }: { path: string },
): Promise<void> {
  const bytes = changedPath(path);
  return change(deps, caller, find, [bytes], (shell, signal) => deletePath(shell, bytes, signal));
}

/** @throws {AppError} As {@linkcode listFiles}; `conflict` if the new path exists. */
export function renameFile(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  { path, to }: { path: string; to: string },
): Promise<void> {
  const paths = { from: changedPath(path), to: changedPath(to) };
  return change(
    deps,
    caller,
    find,
    [paths.from, paths.to],
    (shell, signal) => renamePath(shell, paths, signal),
  );
}

/** @throws {AppError} As {@linkcode renameFile}. */
export function createFolder(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  { path }: { path: string },
): Promise<void> {
  const bytes = changedPath(path);
  return change(
    deps,
    caller,
    find,
    [bytes],
    (shell, signal) => makeDirectory(shell, bytes, signal),
  );
}

/** @throws {AppError} `invalid`, also for the root. */
function changedPath(path: string): ByteString {
  const bytes = parsePath(path);
  if (bytes === "") throw new AppError("invalid", "The root directory cannot be changed");
  return bytes;
}

async function change(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  paths: readonly ByteString[],
  work: (shell: Awaited<ReturnType<Place["shell"]>>, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await deps.limiters.fileRequests(caller, async () => {
    const signal = AbortSignal.timeout(CHANGE_MS);
    const place = await find(signal);
    using _ = reserve(deps, place, paths);
    await within(deps, place, async () => await work(await place.shell(signal), signal));
  });
}

/** Reserves the containers that use the files, and the files themselves: each has one writer. */
function reserve(
  { reservations }: FileDeps,
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
