/**
 * Completion of hard links. restic recognizes them by the inode and a number of links above 1 in all
 * nodes of the file. An archive has a link only at the second name, and then the tree of
 * the first may be saved: the trees with such files are saved again at the end.
 *
 * @module
 */

import type { ByteString } from "./entry.ts";
import { toBytes } from "./go_quote.ts";
import { type Id, idOf } from "./id.ts";
import { encodeNode, type Node } from "./node.ts";
import type { PackWriter } from "./pack_writer.ts";
import { RepositoryError, shown } from "./repository_error.ts";
import { encodeTree } from "./tree.ts";
import type { TreeReader } from "./tree_reader.ts";

/** Fields that all nodes of a file share. */
type SharedFields = Pick<Node, "inode" | "links" | "content" | "size">;

/** Changes below a directory, by name. */
interface Changes {
  below: Map<ByteString, Changes>;
  shared: Map<ByteString, SharedFields>;
}

/**
 * Gives all names of each file the same content and inode.
 *
 * @param links Paths of hard links by the path of the file.
 * @returns The new tree.
 * @throws {RepositoryError} `refused` if the file of a link is not a file of the tree.
 */
export async function completeHardLinks(
  tree: Id,
  links: ReadonlyMap<ByteString, readonly ByteString[]>,
  { trees, writer }: { trees: TreeReader; writer: PackWriter },
): Promise<Id> {
  const changes: Changes = { below: new Map(), shared: new Map() };
  for (const [path, others] of links) {
    const shared = await readShared(tree, path, others, trees);
    for (const name of [path, ...others]) addChange(changes, name, shared);
  }

  const rewrite = async (id: Id, { below, shared }: Changes, path: ByteString): Promise<Id> => {
    const nodes = new Map<ByteString, string>();
    for await (const node of trees.nodesOf(id)) {
      const inner = below.get(node.name);
      const subtree = inner !== undefined && node.subtree !== undefined
        ? await rewrite(node.subtree, inner, `${path}${node.name}/`)
        : node.subtree;
      nodes.set(node.name, encodeNode({ ...node, ...shared.get(node.name), subtree }));
    }
    return await writer.save("tree", encodeTree(nodes, path));
  };
  return await rewrite(tree, changes, "");
}

async function readShared(
  tree: Id,
  path: ByteString,
  others: readonly ByteString[],
  trees: TreeReader,
): Promise<SharedFields> {
  const node = await trees.find(tree, path).catch((error) => {
    if (error instanceof RepositoryError && error.reason === "not_found") return undefined;
    throw error;
  });
  if (node?.content === undefined) {
    const link = `"${shown(others[0] ?? "")}"`;
    throw new RepositoryError(
      "refused",
      `${link} cannot be stored: it is a hard link to "${
        shown(path)
      }", which is not a file before it`,
    );
  }
  const { content, size } = node;
  const inode = node.inode === 0n ? inodeOf(path) : node.inode;
  return { inode, links: others.length + 1, content, size };
}

function addChange(changes: Changes, path: ByteString, shared: SharedFields): void {
  const names = path.split("/");
  const name = names.pop()!;
  let directory = changes;
  for (const parent of names) {
    const below = directory.below.get(parent) ?? { below: new Map(), shared: new Map() };
    directory.below.set(parent, below);
    directory = below;
  }
  directory.shared.set(name, shared);
}

/** An inode for a file whose own one is not known. It is the same in each backup. */
const inodeOf = (path: ByteString): bigint => BigInt(`0x${idOf(toBytes(path)).slice(0, 12)}`) | 1n;
