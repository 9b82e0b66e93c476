/** Files in a snapshot: lists, downloads and differences. @module */

import type { Change } from "../backup/restic/diff.ts";
import type { ListedEntry } from "../backup/restic/restore.ts";
import type { Snapshot } from "../backup/restic/snapshot.ts";
import type { Holder } from "../access/shares.ts";
import type { Deps } from "../deps.ts";
import { readStream } from "../stream/read_stream.ts";
import { AppError } from "../errors.ts";
import { decodePath, encodePath, fileName } from "./file_path.ts";
import { type FileView, viewFile } from "./file_view.ts";
import { openSnapshot } from "./list.ts";
import { assertNotOwnPath } from "./own_path.ts";
import { asTargetError, translated } from "../backup/targets/repository.ts";
import { findEntry } from "../backup/trees/find_entry.ts";

/** Longest list. */
const FILES_MAX = 5_000;

/** Longest reading of a directory, in milliseconds. */
const LIST_MS = 60_000;

export interface SnapshotFile extends FileView {
  linkTarget: string | null;
}

interface FileQuery {
  target?: string | undefined;
  path: string;
}

/**
 * @throws {AppError} `not_found`; `conflict` for a path that is not a directory; `forbidden` for the
 * service's own data; `bad_gateway`.
 */
export async function listFiles(
  deps: Deps,
  id: string,
  { target, path }: FileQuery,
): Promise<{ files: SnapshotFile[]; truncated: boolean }> {
  await assertNotOwnPath(deps, path);
  using opened = await openSnapshot(deps, id, target);
  const { repository, snapshot } = opened;
  return await translated(async () => {
    const files: SnapshotFile[] = [];
    const signal = AbortSignal.timeout(LIST_MS);
    for await (
      const entry of repository.listDirectory(snapshot.id, decodePath(path).slice(1), signal)
    ) {
      if (files.length === FILES_MAX) return { files, truncated: true };
      const { linkTarget } = entry;
      files.push({
        ...viewFile(entry),
        linkTarget: linkTarget === undefined ? null : encodePath(linkTarget),
      });
    }
    return { files, truncated: false };
  });
}

/**
 * Opens a download, which has a worker until it ends or is cancelled.
 *
 * @throws {AppError} As {@linkcode listFiles}; `conflict` for a path that is not a file;
 * `too_many_requests`.
 */
export async function openFile(
  deps: Deps,
  caller: Holder,
  id: string,
  query: FileQuery,
  signal: AbortSignal,
): Promise<{ name: string; size: number; body: ReadableStream<Uint8Array> }> {
  await assertNotOwnPath(deps, query.path);
  const { size, body } = await openContent(deps, caller, id, query, signal);
  return { name: fileName(query.path), size, body };
}

/** Opens a download, also of the service's own data. @throws {AppError} As {@linkcode openFile}. */
export async function openContent(
  deps: Deps,
  caller: Holder,
  id: string,
  { target, path }: FileQuery,
  signal: AbortSignal,
): Promise<{ snapshot: Snapshot; size: number; body: ReadableStream<Uint8Array> }> {
  const release = deps.limiters.snapshotDownloads.take(caller);
  let opened: OpenedSnapshot | undefined;
  const end = () => {
    opened?.[Symbol.dispose]();
    release();
  };
  try {
    opened = await openSnapshot(deps, id, target);
    const { size } = await findFile(opened, path, signal);
    const content = contentOf(opened, path, signal);
    return {
      snapshot: opened.snapshot,
      size,
      body: readStream(async () => (await content.next()).value, end),
    };
  } catch (error) {
    end();
    throw error;
  }
}

type OpenedSnapshot = Awaited<ReturnType<typeof openSnapshot>>;

async function findFile(
  { repository, snapshot }: OpenedSnapshot,
  path: string,
  signal: AbortSignal,
): Promise<ListedEntry> {
  const found = await findEntry(repository, snapshot.id, decodePath(path).slice(1), signal);
  if (!found) throw new AppError("not_found", `${path} is not in the snapshot`);
  if (found.type !== "file") throw new AppError("conflict", `${path} is not a file`);
  return found;
}

async function* contentOf(
  { repository, snapshot }: OpenedSnapshot,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* repository.readFile(snapshot.id, decodePath(path).slice(1), {}, signal);
  } catch (error) {
    throw asTargetError(error);
  }
}

/** @throws {AppError} `not_found`; `conflict`; `bad_gateway`. */
export async function diffSnapshots(
  deps: Deps,
  id: string,
  other: string,
  { target }: { target?: string | undefined },
): Promise<{ changes: { path: string; change: Change["change"] }[]; truncated: boolean }> {
  using opened = await openSnapshot(deps, id, target);
  const { repository, snapshot } = opened;
  return await translated(async () => {
    const changes: { path: string; change: Change["change"] }[] = [];
    const signal = AbortSignal.timeout(LIST_MS);
    for await (const { path, change } of repository.diff(snapshot.id, other, signal)) {
      if (changes.length === FILES_MAX) return { changes, truncated: true };
      changes.push({ path: `/${encodePath(path)}`, change });
    }
    return { changes, truncated: false };
  });
}
