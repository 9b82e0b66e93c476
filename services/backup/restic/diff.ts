/** Differences between two snapshots. @module */

import type { ByteString } from "./entry.ts";
import type { Id } from "./id.ts";
import type { Node } from "./node.ts";
import type { TreeReader } from "./tree_reader.ts";

/**
 * Difference at a path. `content`: another type, other bytes or another link target; `metadata`: only
 * owner, mode, times or attributes.
 */
export interface Change {
  path: ByteString;
  change: "added" | "removed" | "content" | "metadata";
  type: Node["type"];
  /** Bytes of the file before and after; 0 where there is none. */
  sizeBefore: number;
  sizeAfter: number;
}

/** Differences in the order of paths. Equal directories are not read. */
export async function* diffTrees(
  trees: TreeReader,
  before: Id | undefined,
  after: Id | undefined,
  prefix: ByteString = "",
): AsyncGenerator<Change> {
  if (before === after) return;
  for await (const [old, now] of pairs(nodesOf(trees, before), nodesOf(trees, after))) {
    const { name, type } = now ?? old!;
    const path = `${prefix}${name}`;
    const change = changeOf(old, now);
    if (change !== undefined) {
      yield { path, change, type, sizeBefore: old?.size ?? 0, sizeAfter: now?.size ?? 0 };
    }
    yield* diffTrees(trees, old?.subtree, now?.subtree, `${path}/`);
  }
}

async function* nodesOf(trees: TreeReader, tree: Id | undefined): AsyncGenerator<Node> {
  if (tree !== undefined) yield* trees.nodesOf(tree);
}

/** Nodes of the same name, or one without the other. */
async function* pairs(
  before: AsyncGenerator<Node>,
  after: AsyncGenerator<Node>,
): AsyncGenerator<[Node | undefined, Node | undefined]> {
  let [old, now] = [await before.next(), await after.next()];
  while (!old.done || !now.done) {
    const takesOld = !old.done && (now.done || old.value.name <= now.value.name);
    const takesNow = !now.done && (old.done || now.value.name <= old.value.name);
    yield [takesOld ? old.value! : undefined, takesNow ? now.value! : undefined];
    if (takesOld) old = await before.next();
    if (takesNow) now = await after.next();
  }
}

function changeOf(old: Node | undefined, now: Node | undefined): Change["change"] | undefined {
  if (old === undefined) return "added";
  if (now === undefined) return "removed";
  const isSameContent = old.type === now.type && old.linkTarget === now.linkTarget &&
    old.device === now.device && String(old.content) === String(now.content);
  if (!isSameContent) return "content";
  return metadataOf(old) === metadataOf(now) ? undefined : "metadata";
}

const metadataOf = ({ mode, uid, gid, mtime, xattrs }: Node) =>
  JSON.stringify([
    mode,
    uid,
    gid,
    String(mtime),
    xattrs.map(({ name, value }) => [name, value.toBase64()]),
  ]);
