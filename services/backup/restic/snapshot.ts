/**
 * Snapshots (design document, "Snapshots"): the tree of a backup, with its time, host, paths and tags.
 *
 * @module
 */

import { type Id, isId } from "./id.ts";
import { type Shape, shapeOf } from "./json_shape.ts";
import { SNAPSHOT_TEXT_MAX } from "./limits.ts";
import { RepositoryError, shown } from "./repository_error.ts";
import {
  listFiles,
  loadJson,
  type RepositoryFiles,
  saveJson,
  titleOf,
} from "./repository_files.ts";
import { parseTime } from "./time.ts";
import { damaged } from "./repository_error.ts";

/** Snapshots that are read at a time: a request to a target takes longer than its bytes. */
const PARALLEL_READS = 8;

/** Content of a new snapshot. */
export interface NewSnapshot {
  /** RFC 3339. */
  time: string;
  /** Snapshot whose unchanged files were not read again. */
  parent?: Id;
  tree: Id;
  /** Absolute paths that were backed up, e.g. `/volumes/data`. */
  paths: string[];
  hostname: string;
  username: string;
  uid: number;
  gid: number;
  /** Name and version of the program that made it; restic shows it from version 0.17. */
  programVersion?: string;
  tags: string[];
  /** Figures of the backup, as restic has them from version 0.17. */
  summary?: SnapshotSummary;
}

/** Size of what a backup has read. */
export interface SnapshotSummary {
  files: number;
  /** Of all files. */
  bytes: number;
  /** Added to the repository. */
  bytesAdded: number;
}

/** A stored snapshot. */
export interface Snapshot extends NewSnapshot {
  id: Id;
}

/** Writes and verifies a snapshot. All it refers to must be at the target. */
export async function saveSnapshot(
  files: RepositoryFiles,
  snapshot: NewSnapshot,
  signal: AbortSignal,
): Promise<Snapshot> {
  const json = JSON.stringify({
    time: snapshot.time,
    parent: snapshot.parent,
    tree: snapshot.tree,
    paths: snapshot.paths,
    hostname: snapshot.hostname || undefined,
    username: snapshot.username || undefined,
    uid: snapshot.uid || undefined,
    gid: snapshot.gid || undefined,
    tags: snapshot.tags.length === 0 ? undefined : snapshot.tags,
    program_version: snapshot.programVersion,
    summary: snapshot.summary && {
      backup_start: snapshot.time,
      backup_end: snapshot.time,
      data_added: snapshot.summary.bytesAdded,
      total_files_processed: snapshot.summary.files,
      total_bytes_processed: snapshot.summary.bytes,
    },
  });
  return { ...snapshot, id: await saveJson(files, "snapshots", json, signal) };
}

/** @throws {RepositoryError} `damaged` */
export async function loadSnapshot(
  files: RepositoryFiles,
  id: Id,
  signal: AbortSignal,
): Promise<Snapshot> {
  const title = titleOf("snapshots", id);
  const shape = shapeOf(title);
  const fields = shape.object(await loadJson(files, "snapshots", id, signal), "the file");
  const texts = (value: unknown, field: string) =>
    shape.array(value ?? [], field).map((text) => shape.text(text, field));
  const time = shape.text(fields.time, "time");
  if (parseTime(time) === undefined) throw damaged(title, "time is not RFC 3339");
  return {
    id,
    time,
    ...(isId(fields.parent) && { parent: fields.parent }),
    tree: shape.id(fields.tree, "tree"),
    paths: texts(fields.paths, "paths"),
    hostname: shape.text(fields.hostname ?? "", "hostname"),
    username: shape.text(fields.username ?? "", "username"),
    uid: shape.count(fields.uid, "uid"),
    gid: shape.count(fields.gid, "gid"),
    tags: texts(fields.tags, "tags"),
    ...(typeof fields.program_version === "string" && { programVersion: fields.program_version }),
    ...(fields.summary != null && { summary: readSummary(shape, fields.summary) }),
  };
}

function readSummary(shape: Shape, value: unknown): SnapshotSummary {
  const fields = shape.object(value, "summary");
  const count = (field: string) => shape.count(fields[field], `summary.${field}`);
  return {
    files: count("total_files_processed"),
    bytes: count("total_bytes_processed"),
    bytesAdded: count("data_added"),
  };
}

/**
 * All snapshots, the oldest first.
 *
 * @throws {RepositoryError} `damaged` for any that is; `unsupported` for more texts than fit into memory.
 */
export async function loadSnapshots(
  files: RepositoryFiles,
  signal: AbortSignal,
  { textMax = SNAPSHOT_TEXT_MAX } = {},
): Promise<Snapshot[]> {
  const listed = await Array.fromAsync(listFiles(files.storage, "snapshots", signal));
  const snapshots: Snapshot[] = [];
  let characters = 0;
  for (let at = 0; at < listed.length; at += PARALLEL_READS) {
    const names = listed.slice(at, at + PARALLEL_READS).map(({ name }) => name);
    const loading = names.map((name) => loadSnapshot(files, name, signal));
    // None goes on after a failure.
    await Promise.allSettled(loading);
    const loaded = await Promise.all(loading);
    characters += loaded.reduce((sum, each) => sum + textLength(each), 0);
    snapshots.push(...loaded);
    if (characters > textMax) {
      const [most] = snapshots.toSorted((a, b) => textLength(b) - textLength(a));
      throw new RepositoryError(
        "unsupported",
        `The snapshots have more than ${textMax} characters of paths and tags, ` +
          `most of them ${most!.id}; remove it, e.g. with restic forget`,
      );
    }
  }
  return snapshots.sort(byTime);
}

/** Each text counts with what it takes besides its characters. */
const textLength = ({ paths, tags, hostname, username, programVersion = "" }: Snapshot): number =>
  [...paths, ...tags, hostname, username, programVersion]
    .reduce((sum, text) => sum + text.length + TEXT_OVERHEAD, 0);

const TEXT_OVERHEAD = 16;

/** Orders by time, then by ID. */
export function byTime(a: Snapshot, b: Snapshot): number {
  const [timeA, timeB] = [instantOf(a), instantOf(b)];
  return timeA === timeB ? (a.id < b.id ? -1 : 1) : timeA < timeB ? -1 : 1;
}

/** Nanoseconds since 1970. */
export const instantOf = ({ time }: Pick<Snapshot, "time">): bigint => parseTime(time) ?? 0n;

/**
 * Finds a snapshot by its ID or the beginning of it.
 *
 * @throws {RepositoryError} `not_found`, also if several begin so.
 */
export async function findSnapshot(
  files: RepositoryFiles,
  prefix: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (isId(prefix)) {
    for await (const { name } of listFiles(files.storage, "snapshots", signal)) {
      if (name === prefix) return await loadSnapshot(files, name, signal);
    }
    throw new RepositoryError("not_found", `Snapshot ${prefix.slice(0, 8)} does not exist`);
  }
  const found: Id[] = [];
  if (/^[0-9a-f]{4,63}$/.test(prefix)) {
    for await (const { name } of listFiles(files.storage, "snapshots", signal)) {
      if (name.startsWith(prefix)) found.push(name);
    }
  }
  const [id] = found;
  if (id === undefined || found.length > 1) {
    const problem = id === undefined ? "does not exist" : "is not unique";
    throw new RepositoryError("not_found", `Snapshot ${shown(prefix)} ${problem}`);
  }
  return await loadSnapshot(files, id, signal);
}
