/**
 * Reader of trees. Those of one snapshot are next to each other in their packs: it reads 512 KiB
 * around a tree, from which it takes most of the following ones.
 *
 * @module
 */

import { decodeBlob } from "./blob.ts";
import { isLoss, loadBlob } from "./blob_reader.ts";
import type { ByteString } from "./entry.ts";
import { type Id, short } from "./id.ts";
import type { LocatedBlob, MasterIndex } from "./master_index.ts";
import type { Node } from "./node.ts";
import type { RepositoryFiles } from "./repository_files.ts";
import { decodeTree } from "./tree.ts";
import { RepositoryError, shown } from "./repository_error.ts";

/** Bytes that are read before and behind a tree. */
const AROUND_BYTES = 256 * 1024;

/** Parts of packs that are kept, and bytes of each; larger trees are not. */
const PARTS_MAX = 8;
const PART_BYTES_MAX = 2 * 1024 * 1024;

interface PackPart {
  pack: Id;
  start: number;
  bytes: Uint8Array;
}

export type TreeReader = ReturnType<typeof createTreeReader>;

export function createTreeReader(files: RepositoryFiles, index: MasterIndex, signal: AbortSignal) {
  const packSizes = new Map(Array.from(index.packs(), ({ id, size }) => [id, size]));
  // The last used one is last.
  const parts: PackPart[] = [];

  const findPart = ({ pack, offset, length }: LocatedBlob) => {
    const number = parts.findIndex((part) =>
      part.pack === pack && part.start <= offset &&
      offset + length <= part.start + part.bytes.length
    );
    return number < 0 ? undefined : parts.splice(number, 1)[0];
  };

  const readPart = async ({ pack, offset, length }: LocatedBlob): Promise<PackPart> => {
    const start = Math.max(0, offset - AROUND_BYTES);
    const end = Math.min(packSizes.get(pack) ?? 0, offset + length + AROUND_BYTES);
    const range = { offset: start, length: Math.max(end, offset + length) - start };
    return { pack, start, bytes: await files.storage.read("data", pack, signal, range) };
  };

  const load = async (id: Id): Promise<Uint8Array> => {
    const [blob] = index.find("tree", id);
    if (blob !== undefined) {
      try {
        const part = findPart(blob) ?? await readPart(blob);
        if (part.bytes.length <= PART_BYTES_MAX) parts.push(part);
        if (parts.length > PARTS_MAX) parts.shift();
        const from = blob.offset - part.start;
        return await decodeBlob(files, blob, part.bytes.subarray(from, from + blob.length));
      } catch (error) {
        if (!isLoss(error)) throw error;
      }
    }
    return await loadBlob(files, index, "tree", id, signal);
  };

  /** Nodes of a tree in the order of their names. @throws {RepositoryError} `damaged` */
  async function* nodesOf(id: Id): AsyncGenerator<Node> {
    signal.throwIfAborted();
    yield* decodeTree(await load(id), `Tree ${short(id)}`);
  }

  return {
    load,
    nodesOf,
    /**
     * Finds the node at a path.
     *
     * @throws {RepositoryError} `not_found`
     */
    async find(tree: Id, path: ByteString): Promise<Node> {
      let node: Node | undefined;
      for (const name of path.split("/")) {
        const parent: Id | undefined = node === undefined ? tree : node.subtree;
        node = parent === undefined ? undefined : await findName(nodesOf(parent), name);
        if (node === undefined) {
          throw new RepositoryError("not_found", `"${shown(path)}" is not in the snapshot`);
        }
      }
      return node!;
    },
  };
}

async function findName(nodes: AsyncIterable<Node>, name: ByteString): Promise<Node | undefined> {
  for await (const node of nodes) if (node.name === name) return node;
  return undefined;
}
