/** Commits of a fetched repository, and which of them are new. @module */

import type { CommitObject } from "isomorphic-git";

/** Limit of the commits that are counted and compared; a repository begins again with as many. */
export const COMMITS_MAX = 1_000;

/** Limit of the commits that are read for all comparisons. */
const READ_MAX = 20 * COMMITS_MAX;

/** Parents of a commit; those of the largest merges are some dozens. */
const PARENTS_MAX = 100;

/** Longest message and author that are kept, in UTF-16 units. */
const MESSAGE_MAX = 500;
const AUTHOR_MAX = 200;

export interface Commit {
  id: string;
  /** `Name <address>`. */
  author: string;
  /** The first line. */
  message: string;
  /** When it was committed; ISO 8601, UTC. */
  committedAt: string;
}

export function toCommit(
  id: string,
  { author, committer, message }: CommitObject,
): Commit {
  return {
    id,
    author: printable(`${author.name} <${author.email}>`).slice(0, AUTHOR_MAX),
    message: printable(message.trim().split("\n", 1)[0]!).slice(0, MESSAGE_MAX),
    committedAt: timeOf(committer.timestamp),
  };
}

/**
 * Text of a repository for messages, lists and terminals: without control characters and those that
 * change the direction of the text around them.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ").trim()
    .toWellFormed();

/** A commit may have any number as its time. */
function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}

export interface Range {
  /** Ids of the commits that `head` has and `base` has not, `head` first; at most the limit. */
  commits: string[];
  /** Whether there are more, or the rest was not fetched. */
  isPartial: boolean;
  /** Whether `head` has `base` among its ancestors. */
  isForward: boolean;
}

type ParentsOf = (id: string) => Promise<readonly string[] | undefined>;

/**
 * Creates a function that compares commits of one repository. Each commit is read once, and each pair
 * compared once, so that many stacks cost as much as one. Commits that were not fetched end a walk.
 *
 * @param read The parents of a commit; rejects with the code `NotFoundError` for one that is missing.
 */
export function createHistory(
  read: (id: string) => Promise<readonly string[]>,
): (base: string, head: string) => Promise<Range> {
  const known = new Map<string, ReturnType<ParentsOf>>();
  const ranges = new Map<string, Promise<Range>>();
  const parentsOf: ParentsOf = async (id) => {
    const found = known.get(id);
    if (found || known.size >= READ_MAX) return await found;
    const reading = read(id).then(
      (parents) => parents.length > PARENTS_MAX ? undefined : parents,
      (error) => {
        // Anything else is damage, or a worker that ended: no history may look rewritten by it.
        if (error?.code !== "NotFoundError") throw error;
        return undefined;
      },
    );
    known.set(id, reading);
    return await reading;
  };
  return (base, head) => {
    const pair = `${base} ${head}`;
    const range = ranges.get(pair) ?? rangeBetween(parentsOf, base, head);
    ranges.set(pair, range);
    return range;
  };
}

async function rangeBetween(parentsOf: ParentsOf, base: string, head: string): Promise<Range> {
  const fromHead = await walk(parentsOf, head, new Set([base]));
  const isForward = head === base || fromHead.reached;
  // Commits that `base` has as well do not count, also where branches were merged.
  const old = await walk(parentsOf, base, new Set());
  const commits = [...fromHead.seen].filter((id) => !old.seen.has(id));
  return {
    commits,
    isForward,
    isPartial: fromHead.isFull || fromHead.missing.some((id) => !old.seen.has(id)),
  };
}

async function walk(
  parentsOf: (id: string) => Promise<readonly string[] | undefined>,
  start: string,
  stops: ReadonlySet<string>,
) {
  const seen = new Set<string>();
  const missing: string[] = [];
  let reached = false;
  const next = [start];
  while (next.length > 0 && seen.size < COMMITS_MAX) {
    const id = next.shift()!;
    if (stops.has(id)) {
      reached = true;
      continue;
    }
    if (seen.has(id)) continue;
    const parents = await parentsOf(id);
    if (!parents) {
      missing.push(id);
      continue;
    }
    seen.add(id);
    next.push(...parents);
  }
  return { seen, missing, reached, isFull: next.length > 0 };
}
