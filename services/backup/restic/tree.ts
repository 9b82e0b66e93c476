/**
 * Trees (design document, "Trees and Data"): the JSON of a directory, `{"nodes":[...]}` and a line
 * break, with the nodes in the order of their names' bytes.
 *
 * A tree is read and written node by node, because the objects of a large directory would take ten
 * times the memory of its JSON.
 *
 * @module
 */

import type { ByteString } from "./entry.ts";
import { DEPTH_MAX, TREE_BYTES_MAX } from "./limits.ts";
import { decodeNode, type Node } from "./node.ts";
import { damaged, RepositoryError, shown } from "./repository_error.ts";

const HEAD = '{"nodes":[';

/** An empty directory of restic. */
const NO_NODES = /^\{"nodes":null\}\n?$/;
const NO_NODES_BYTES_MAX = 15;

const [QUOTE, BACKSLASH, OPEN, CLOSE, COMMA, END] = [0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x5d];

/**
 * Joins the JSON of a directory's nodes.
 *
 * @param nodes JSON by the name.
 * @param path Names the directory in messages.
 * @throws {RepositoryError} `refused` if the tree would exceed the limit.
 */
export function encodeTree(nodes: Map<ByteString, string>, path: ByteString): Uint8Array {
  const names = [...nodes.keys()].sort((a, b) => a < b ? -1 : 1);
  const json = `${HEAD}${names.map((name) => nodes.get(name)).join(",")}]}\n`;
  const bytes = new TextEncoder().encode(json);
  if (bytes.length <= TREE_BYTES_MAX) return bytes;
  throw new RepositoryError(
    "refused",
    `Directory "${
      shown(path)
    }" has too many entries: more than ${TREE_BYTES_MAX} bytes of metadata`,
  );
}

/**
 * Reads nodes in their order. Names that are double or not in the order of their bytes are refused.
 *
 * @param title Names the tree in messages.
 * @throws {RepositoryError} `damaged`
 */
export function* decodeTree(tree: Uint8Array, title: string): Generator<Node> {
  let last: ByteString | undefined;
  for (const json of splitNodes(tree, title)) {
    const node = decodeNode(json, title);
    if (last !== undefined && node.name <= last) {
      throw damaged(title, `the name "${shown(node.name)}" is double or not in order`);
    }
    last = node.name;
    yield node;
  }
}

/** JSON of each node: the objects of the list, found by their braces. */
function* splitNodes(tree: Uint8Array, title: string): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const text = (start: number, end: number) => {
    try {
      return decoder.decode(tree.subarray(start, end));
    } catch (error) {
      throw damaged(title, "it is not UTF-8", error);
    }
  };
  if (tree.length <= NO_NODES_BYTES_MAX && NO_NODES.test(text(0, tree.length))) return;
  if (text(0, HEAD.length) !== HEAD) throw damaged(title, "it does not begin with nodes");
  let position = HEAD.length;
  for (let isFirst = true; tree[position] !== END; isFirst = false) {
    if (!isFirst && tree[position++] !== COMMA) throw damaged(title, "its nodes are not a list");
    const end = objectEnd(tree, position);
    if (end === undefined) throw damaged(title, "its nodes are not a list");
    yield text(position, end);
    position = end;
  }
  if (tree[position + 1] !== CLOSE || text(position + 2, tree.length).trim() !== "") {
    throw damaged(title, "it has something behind its nodes");
  }
}

/** End of the object that starts at `start`. Its depth is limited for the parser's sake. */
function objectEnd(tree: Uint8Array, start: number): number | undefined {
  if (tree[start] !== OPEN) return undefined;
  let depth = 0;
  for (let position = start; position < tree.length; position++) {
    const byte = tree[position];
    if (byte === QUOTE) {
      for (position++; tree[position] !== QUOTE; position++) {
        if (position >= tree.length) return undefined;
        if (tree[position] === BACKSLASH) position++;
      }
    } else if (byte === OPEN && ++depth > DEPTH_MAX) {
      return undefined;
    } else if (byte === CLOSE && --depth === 0) {
      return position + 1;
    }
  }
  return undefined;
}
