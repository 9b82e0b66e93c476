/** Directory of the parent snapshot, to find unchanged files. @module */

import { isLoss } from "./blob_reader.ts";
import type { ByteString, Entry } from "./entry.ts";
import type { Id } from "./id.ts";
import type { Node } from "./node.ts";
import type { TreeReader } from "./tree_reader.ts";

type ParentFile = Pick<Node, "size" | "mtime" | "ctime" | "inode"> & { content: Id[] };

interface ParentNodes {
  files: Map<ByteString, ParentFile>;
  directories: Map<ByteString, Id>;
}

/** Directory of the parent snapshot. */
export interface ParentDirectory {
  /** The directory of this name in it, which may not exist. */
  directory(name: ByteString): Promise<ParentDirectory>;
  /** @returns Data blobs of the file, if the entry's identity is that of the parent's file. */
  unchangedContent(entry: Entry, name: ByteString): Promise<Id[] | undefined>;
}

/** @param tree `undefined` where the parent snapshot has no such directory. */
export function createParentDirectory(
  trees: TreeReader,
  tree: Id | undefined,
): ParentDirectory {
  // Loaded when the first file or directory is looked for.
  let loading: Promise<ParentNodes> | undefined;
  const nodes = () => loading ??= loadNodes(trees, tree);
  return {
    async directory(name) {
      if (tree === undefined) return createParentDirectory(trees, undefined);
      return createParentDirectory(trees, (await nodes()).directories.get(name));
    },
    async unchangedContent({ size, mtime, inode, ctime = mtime }, name) {
      if (tree === undefined || inode === undefined) return undefined;
      const file = (await nodes()).files.get(name);
      const isSame = file?.size === size && file.mtime === mtime && file.inode === inode &&
        file.ctime === ctime;
      return isSame ? file?.content : undefined;
    },
  };
}

/** A parent that cannot be read costs time only: its files are read again. */
async function loadNodes(trees: TreeReader, tree: Id | undefined): Promise<ParentNodes> {
  const files = new Map<ByteString, ParentFile>();
  const directories = new Map<ByteString, Id>();
  if (tree === undefined) return { files, directories };
  try {
    for await (const { name, size, mtime, ctime, inode, content, subtree } of trees.nodesOf(tree)) {
      if (subtree !== undefined) directories.set(name, subtree);
      else if (content !== undefined) files.set(name, { size, mtime, ctime, inode, content });
    }
  } catch (error) {
    if (!isLoss(error)) throw error;
  }
  return { files, directories };
}
