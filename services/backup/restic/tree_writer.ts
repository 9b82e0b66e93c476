/**
 * Writer of the trees of a backup. Entries come one after the other; a directory is saved when the
 * first entry outside of it comes.
 *
 * @module
 */

import type { Chunker } from "./chunker.ts";
import type { ByteString, Entries, Entry } from "./entry.ts";
import { assertStorable, namesOf } from "./entry_path.ts";
import type { Id } from "./id.ts";
import type { MasterIndex } from "./master_index.ts";
import { encodeNode, type Node } from "./node.ts";
import type { PackWriter } from "./pack_writer.ts";
import { createParentDirectory, type ParentDirectory } from "./parent_directory.ts";
import { RepositoryError, shown } from "./repository_error.ts";
import { encodeTree } from "./tree.ts";
import type { TreeReader } from "./tree_reader.ts";

/** Numbers of a backup. */
export interface BackupCounts {
  files: number;
  directories: number;
  /** Symbolic links, devices, and others. */
  others: number;
  /** Files that were not read, because the parent snapshot has them. */
  unchangedFiles: number;
  /** Bytes of all files. */
  bytes: number;
}

interface OpenDirectory {
  path: ByteString;
  name: ByteString;
  node: Node;
  /** JSON by name. */
  nodes: Map<ByteString, string>;
  parent: ParentDirectory;
}

/** Parts that a tree writer needs. */
export interface TreeWriterParts {
  writer: PackWriter;
  index: MasterIndex;
  trees: TreeReader;
  chunker: Chunker;
  /** Tree of the parent snapshot. */
  parentTree: Id | undefined;
  /** Called after each entry and each chunk. */
  onProgress: (counts: BackupCounts, path: ByteString) => void;
}

/** Saved entries. */
export interface SavedTree {
  tree: Id;
  counts: BackupCounts;
  /** Paths of hard links by the path of the file; their nodes are not complete. */
  links: Map<ByteString, ByteString[]>;
}

/**
 * Saves entries as trees and data.
 *
 * @throws {RepositoryError} `refused` for an entry that cannot be stored.
 */
export async function saveEntries(entries: Entries, parts: TreeWriterParts): Promise<SavedTree> {
  const { writer, index, trees, chunker, parentTree, onProgress } = parts;
  const counts = { files: 0, directories: 0, others: 0, unchangedFiles: 0, bytes: 0 };
  const links = new Map<ByteString, ByteString[]>();
  const firstPaths = new Map<ByteString, ByteString>();
  const root: OpenDirectory = {
    ...emptyDirectory("", createParentDirectory(trees, parentTree)),
  };
  const stack = [root];
  const top = () => stack[stack.length - 1]!;

  const close = async () => {
    const { name, node, nodes, path } = stack.pop()!;
    const subtree = await writer.save("tree", encodeTree(nodes, path));
    top().nodes.set(name, encodeNode({ ...node, subtree }));
  };
  const open = async (path: ByteString, name: ByteString, entry?: Entry) => {
    assertNew(top(), path, name);
    const directory = emptyDirectory(path, await top().parent.directory(name));
    stack.push(entry === undefined ? directory : { ...directory, node: toNode(entry, name) });
    counts.directories += 1;
  };
  /** Closes and opens directories until the parent of the path is the top. */
  const moveTo = async (names: readonly ByteString[]) => {
    const parents = names.slice(0, -1);
    let depth = 0;
    while (depth < parents.length && stack[depth + 1]?.name === parents[depth]) depth += 1;
    while (stack.length > depth + 1) await close();
    for (; depth < parents.length; depth++) {
      await open(parents.slice(0, depth + 1).join("/"), parents[depth]!);
    }
  };

  const readContent = async (
    { path, content }: Entry,
  ): Promise<{ content: Id[]; size: number }> => {
    const ids: Id[] = [];
    let size = 0;
    const save = async (chunk: Uint8Array) => {
      const { length } = chunk;
      // This frees the chunk.
      ids.push(await writer.save("data", chunk));
      counts.bytes += length;
      size += length;
      onProgress(counts, path);
    };
    for await (const piece of content ?? []) {
      for (const chunk of chunker.push(piece)) await save(chunk);
    }
    const last = chunker.finish();
    if (last !== undefined) await save(last);
    return { content: ids, size };
  };
  const fileNode = async (entry: Entry, name: ByteString): Promise<Node> => {
    counts.files += 1;
    const node = toNode(entry, name);
    const unchanged = await top().parent.unchangedContent(entry, name);
    if (unchanged?.every((id) => index.has("data", id))) {
      counts.unchangedFiles += 1;
      counts.bytes += entry.size;
      return { ...node, content: unchanged, size: entry.size };
    }
    return { ...node, ...await readContent(entry) };
  };
  const linkNode = (entry: Entry, target: ByteString, name: ByteString): Node => {
    const first = firstPaths.get(target) ?? target;
    firstPaths.set(entry.path, first);
    const others = links.get(first) ?? [];
    others.push(entry.path);
    links.set(first, others);
    counts.files += 1;
    return { ...toNode(entry, name), content: [] };
  };

  for await (const entry of entries) {
    const { path, type, hardLinkTo } = entry;
    const names = namesOf(path);
    const name = names[names.length - 1]!;
    assertStorable(entry);
    await moveTo(names);
    if (type === "dir") {
      await open(path, name, entry);
    } else {
      assertNew(top(), path, name);
      if (type !== "file") counts.others += 1;
      const node = hardLinkTo !== undefined
        ? linkNode(entry, hardLinkTo, name)
        : type === "file"
        ? await fileNode(entry, name)
        : toNode(entry, name);
      top().nodes.set(name, encodeNode(node));
    }
    onProgress(counts, path);
  }
  while (stack.length > 1) await close();
  return { tree: await writer.save("tree", encodeTree(root.nodes, "")), counts, links };
}

function assertNew({ nodes }: OpenDirectory, path: ByteString, name: ByteString): void {
  if (!nodes.has(name)) return;
  throw new RepositoryError(
    "refused",
    `"${shown(path)}" is there twice, or comes after entries outside of its directory`,
  );
}

/** A directory that no entry describes. */
function emptyDirectory(path: ByteString, parent: ParentDirectory): OpenDirectory {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const entry: Entry = { path, type: "dir", mode: 0o755, uid: 0, gid: 0, mtime: 0n, size: 0 };
  return { path, name, node: toNode(entry, name), nodes: new Map(), parent };
}

function toNode(entry: Entry, name: ByteString): Node {
  return {
    name,
    type: entry.type,
    mode: entry.mode,
    mtime: entry.mtime,
    ctime: entry.ctime ?? entry.mtime,
    uid: entry.uid,
    gid: entry.gid,
    user: entry.user ?? "",
    group: entry.group ?? "",
    inode: entry.inode ?? 0n,
    deviceId: 0n,
    size: 0,
    links: entry.type === "dir" ? 0 : 1,
    linkTarget: entry.linkTarget,
    xattrs: entry.xattrs ?? [],
    device: entry.device ?? 0,
    content: undefined,
    subtree: undefined,
  };
}
