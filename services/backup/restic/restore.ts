/**
 * Reading of snapshots: all entries for a restore, one directory, one file.
 *
 * @module
 */

import { plainLength } from "./blob.ts";
import { loadBlobs, type Step } from "./blob_stream.ts";
import type { ByteString, Entries, Entry } from "./entry.ts";
import { fromParts } from "./entry_parts.ts";
import { type Id, short } from "./id.ts";
import { DEPTH_MAX } from "./limits.ts";
import type { MasterIndex } from "./master_index.ts";
import type { Node } from "./node.ts";
import { damaged, RepositoryError, shown } from "./repository_error.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import { createTreeReader, type TreeReader } from "./tree_reader.ts";

/** An entry of a directory of a snapshot, without content. */
export type ListedEntry = Omit<Entry, "content" | "xattrs">;

/** Bytes of a file. */
export interface FileRange {
  offset: number;
  length: number;
}

/**
 * Entries of a tree in the order that a restore needs: a directory before its content, a file before
 * its hard links.
 *
 * @param paths Only these and what is in them.
 * @throws {RepositoryError} `damaged`; `not_found` for a path that is not there.
 */
export function readEntries(
  files: RepositoryFiles,
  index: MasterIndex,
  tree: Id,
  { paths }: { paths?: readonly ByteString[] },
  signal: AbortSignal,
): Entries {
  const trees = createTreeReader(files, index, signal);
  return fromParts(loadBlobs(files, index, walk(trees, index, tree, paths), signal));
}

/** The same entries without content. A file has the size of its blobs. */
export async function* listEntries(
  files: RepositoryFiles,
  index: MasterIndex,
  tree: Id,
  paths: readonly ByteString[],
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  const trees = createTreeReader(files, index, signal);
  for await (const step of walk(trees, index, tree, paths)) if ("entry" in step) yield step.entry;
}

/** Entries of a directory in the order of their names; of the snapshot's root for `""`. */
export async function* readDirectory(
  files: RepositoryFiles,
  index: MasterIndex,
  tree: Id,
  path: ByteString,
  signal: AbortSignal,
): AsyncGenerator<ListedEntry> {
  const trees = createTreeReader(files, index, signal);
  const { subtree } = path === "" ? { subtree: tree } : await trees.find(tree, path);
  if (subtree === undefined) {
    throw new RepositoryError("refused", `"${shown(path)}" is not a directory`);
  }
  const prefix = path === "" ? "" : `${path}/`;
  for await (const node of trees.nodesOf(subtree)) {
    const { xattrs: _, ...entry } = toEntry(node, `${prefix}${node.name}`);
    yield entry;
  }
}

/** Content of a file, or a part of it. */
export async function* readContent(
  files: RepositoryFiles,
  index: MasterIndex,
  tree: Id,
  path: ByteString,
  range: FileRange | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const trees = createTreeReader(files, index, signal);
  const node = await trees.find(tree, path);
  if (node.content === undefined) {
    throw new RepositoryError("refused", `"${shown(path)}" is not a file`);
  }
  assertSize(node, index, path);
  const { offset, length } = range ?? { offset: 0, length: node.size };
  // Blobs of the range, and how much of the first one is before it.
  let position = 0;
  let skipped = 0;
  const ids: Id[] = [];
  for (const id of node.content) {
    const size = sizeOf(index, id);
    if (position + size <= offset) skipped = position + size;
    else if (position < offset + length) ids.push(id);
    position += size;
  }
  const steps = (async function* () {
    for (const blob of ids) yield { blob };
  })();
  let start = offset - skipped;
  let left = Math.min(length, Math.max(0, node.size - offset));
  for await (const step of loadBlobs(files, index, steps, signal)) {
    if (!("bytes" in step)) continue;
    const piece = step.bytes.subarray(start, start + left);
    start = 0;
    left -= piece.length;
    yield piece;
  }
}

/** Directory that is being walked. */
interface WalkedDirectory {
  nodes: AsyncIterator<Node>;
  /** Path with a slash at the end, or empty for the root. */
  prefix: ByteString;
}

async function* walk(
  trees: TreeReader,
  index: MasterIndex,
  root: Id,
  paths: readonly ByteString[] | undefined,
): AsyncGenerator<Step> {
  // Path of the first file by device and inode, of files with several names.
  const firstNames = new Map<string, ByteString>();
  const stack: WalkedDirectory[] = [];

  function* visit(node: Node, path: ByteString): Generator<Step> {
    const { content, subtree } = node;
    const hardLinkTo = rememberName(firstNames, node, path);
    if (content !== undefined) assertSize(node, index, path);
    const entry = toEntry(node, path);
    yield { entry: hardLinkTo === undefined ? entry : { ...entry, hardLinkTo } };
    if (content !== undefined && hardLinkTo === undefined) {
      for (const blob of content) yield { blob };
    }
    if (subtree === undefined) return;
    if (path.split("/").length > DEPTH_MAX) {
      throw damaged(`Directory "${shown(path)}"`, `it is more than ${DEPTH_MAX} directories deep`);
    }
    stack.push({ nodes: trees.nodesOf(subtree), prefix: `${path}/` });
  }
  async function* visitStack(): AsyncGenerator<Step> {
    for (let directory = stack.at(-1); directory !== undefined; directory = stack.at(-1)) {
      const { nodes, prefix } = directory;
      const next = await nodes.next();
      if (next.done) stack.pop();
      else yield* visit(next.value, `${prefix}${next.value.name}`);
    }
  }

  if (paths === undefined) {
    stack.push({ nodes: trees.nodesOf(root), prefix: "" });
    yield* visitStack();
    return;
  }
  for (const path of withoutNested(paths)) {
    yield* visit(await trees.find(root, path), path);
    yield* visitStack();
  }
}

/** Paths in order, without those that are in another one. */
function withoutNested(paths: readonly ByteString[]): ByteString[] {
  const kept: ByteString[] = [];
  const order = (path: ByteString) => path.replaceAll("/", "\0");
  for (const path of [...paths].sort((a, b) => order(a) < order(b) ? -1 : 1)) {
    const last = kept[kept.length - 1];
    if (last !== undefined && (path === last || path.startsWith(`${last}/`))) continue;
    kept.push(path);
  }
  return kept;
}

/** @returns Path of the file that the node is a hard link to. */
function rememberName(
  firstNames: Map<string, ByteString>,
  { type, links, inode, deviceId }: Node,
  path: ByteString,
): ByteString | undefined {
  if (type !== "file" || links < 2 || inode === 0n) return undefined;
  const key = `${deviceId}:${inode}`;
  const first = firstNames.get(key);
  if (first === undefined) firstNames.set(key, path);
  return first;
}

function sizeOf(index: MasterIndex, id: Id): number {
  const [blob] = index.find("data", id);
  if (blob === undefined) throw damaged(`Blob ${short(id)}`, "no index has it as data");
  return plainLength(blob);
}

/** A size that is not that of its blobs could make a reader reserve any amount of room. */
function assertSize({ size, content = [] }: Node, index: MasterIndex, path: ByteString): void {
  const stored = content.reduce((sum, id) => sum + sizeOf(index, id), 0);
  if (stored === size) return;
  throw damaged(`File "${shown(path)}"`, `it claims ${size} bytes, but has ${stored}`);
}

function toEntry(node: Node, path: ByteString): Entry {
  const { type, mode, uid, gid, user, group, mtime, size, linkTarget, device, xattrs } = node;
  return {
    path,
    type,
    mode,
    uid,
    gid,
    ...(user !== "" && { user }),
    ...(group !== "" && { group }),
    mtime,
    size: type === "file" ? size : 0,
    ...(linkTarget !== undefined && { linkTarget }),
    ...(device !== 0 && { device }),
    ...(xattrs.length > 0 && { xattrs }),
  };
}
