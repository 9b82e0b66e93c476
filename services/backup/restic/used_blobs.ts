/** Blobs that snapshots refer to. @module */

import { type Id, short } from "./id.ts";
import { DEPTH_MAX } from "./limits.ts";
import type { MasterIndex } from "./master_index.ts";
import { damaged } from "./repository_error.ts";
import type { TreeReader } from "./tree_reader.ts";

/** Called for what is missing or damaged. One that returns goes on without the object. */
export type ReportProblem = (problem: unknown) => void;

/**
 * Finds the blobs of trees and all below them.
 *
 * @param report Throws, if the result has to be complete.
 * @returns 1 for each entry of the index that is used; of a blob that is there several times, only
 * for one.
 */
export async function findUsedBlobs(
  trees: TreeReader,
  index: MasterIndex,
  roots: Iterable<Id>,
  report: ReportProblem,
): Promise<Uint8Array> {
  const used = new Uint8Array(index.count);

  /** @returns Whether the blob was not marked before. */
  const mark = (type: "data" | "tree", id: Id): boolean => {
    // The index stays as it is, so that this is the same place each time.
    const [first] = index.find(type, id);
    if (first === undefined) report(damaged(`Blob ${short(id)}`, `no index has it as ${type}`));
    if (first === undefined || used[first.entry] === 1) return false;
    used[first.entry] = 1;
    return true;
  };
  const visit = async (root: Id) => {
    const stack = mark("tree", root) ? [trees.nodesOf(root)] : [];
    for (let nodes = stack.at(-1); nodes !== undefined; nodes = stack.at(-1)) {
      try {
        const next = await nodes.next();
        if (next.done) {
          stack.pop();
          continue;
        }
        const { content = [], subtree } = next.value;
        for (const id of content) mark("data", id);
        if (subtree === undefined || !mark("tree", subtree)) continue;
        // The root is not in a directory.
        if (stack.length > DEPTH_MAX) {
          throw damaged(`Tree ${short(subtree)}`, `it is more than ${DEPTH_MAX} directories deep`);
        }
        stack.push(trees.nodesOf(subtree));
      } catch (error) {
        stack.pop();
        report(error);
      }
    }
  };

  for (const root of roots) await visit(root);
  return used;
}
