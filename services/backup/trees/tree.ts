/** The tree of a snapshot: `/directories`, `/dumps`, `/images`, `/stacks` and `/volumes`. @module */

import type { Entries, Entry } from "../restic/entry.ts";
import { bytesOf, entriesBelow } from "../restic/entry_directory.ts";
import type { SkipList } from "../volumes/limits.ts";
import type { VolumeDeps } from "../volumes/mounted.ts";
import { openVolume } from "../volumes/read.ts";
import { namedError, type Part } from "./part.ts";

/** A dump, which is written while its command runs. */
export interface Dump {
  /** E.g. `shop-db-1/postgresql.sql`. */
  path: string;
  content: AsyncIterable<Uint8Array>;
}

export interface TreeSource {
  parts: readonly Part[];
  dumps: readonly Dump[];
  /** Called when the dumps were read, before the parts. */
  onDumpsRead?: (() => Promise<unknown>) | undefined;
  /** Called when the parts were read. */
  onPartsRead?: (() => Promise<void>) | undefined;
  /** Archives of images, by path in the snapshot; they are read last. */
  images?: readonly { path: string; content: AsyncIterable<Uint8Array> }[] | undefined;
  /** Files that describe what the parts are of, e.g. in `/stacks/shop`; `null` for single volumes. */
  described: { path: string; entries: Entries } | null;
}

interface TreeOptions {
  at: Date;
  signal: AbortSignal;
  /** Images that may have the programs of a helper container. */
  images: readonly string[];
  /** Called with the path in the snapshot and what was left out there. */
  onSkipped(part: string, skipped: SkipList): void;
}

/** Reads one part after the other; each has its helper container only meanwhile. */
export async function* treeOf(
  deps: VolumeDeps,
  { parts, dumps, described, onDumpsRead, onPartsRead, images: archives = [] }: TreeSource,
  { at, signal, images, onSkipped }: TreeOptions,
): Entries & AsyncGenerator<Entry> {
  for (const { path, content } of dumps) {
    yield fileOf(`dumps/${path}`, content, at);
  }
  await onDumpsRead?.();
  if (described) yield* entriesBelow(bytesOf(described.path.slice(1)), described.entries);
  for (const part of parts) {
    const { path, mount } = part;
    const volume = await openVolume(deps, mount, { images, signal });
    try {
      yield* entriesBelow(bytesOf(path.slice(1)), volume.entries);
    } catch (error) {
      throw namedError(part, error);
    }
    onSkipped(path, volume.skipped);
  }
  await onPartsRead?.();
  for (const { path, content } of archives) yield fileOf(path, content, at);
}

/** The size of a dump is known only when it ends. */
const fileOf = (path: string, content: AsyncIterable<Uint8Array>, at: Date): Entry => ({
  path: bytesOf(path),
  type: "file",
  mode: 0o600,
  uid: 0,
  gid: 0,
  mtime: BigInt(at.getTime()) * 1_000_000n,
  size: 0,
  content,
});
