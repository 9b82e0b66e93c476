/** Commits of a fetched repository, and which of them are new. @module */

import type { CommitObject } from "isomorphic-git";

/** Limit of the commits that are counted and compared; a repository begins again with as many. */
export const COMMITS_MAX = 1_000;

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
  parents: readonly string[];
}

export function toCommit(
  id: string,
  { author, committer, message, parent }: CommitObject,
): Commit {
  return {
    id,
    author: printable(`${author.name} <${author.email}>`).slice(0, AUTHOR_MAX),
    message: printable(message.trim().split("\n", 1)[0]!).slice(0, MESSAGE_MAX),
    committedAt: timeOf(committer.timestamp),
    parents: parent,
  };
}

/** People write these texts; they end in messages and lists. */
const printable = (text: string) => text.replace(/\p{Cc}+/gu, " ").trim().toWellFormed();

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

/** Compares two commits. Commits that were not fetched end the walk. */
export async function rangeBetween(
  { commit }: { commit(id: string): Promise<Commit> },
  base: string,
  head: string,
): Promise<Range> {
  const parentsOf = (id: string) => commit(id).then(({ parents }) => parents, () => undefined);
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
