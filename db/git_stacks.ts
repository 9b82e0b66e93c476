/** The `git_stacks` table: stacks that follow a file of a repository. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { GitDeploy } from "./git_repositories.ts";

const stacks = table("git_stacks", {
  stack: text(),
  repositoryId: text(),
  /** Compose file in the repository. */
  path: text(),
  deploy: text<GitDeploy>(),
  /** On the host, for relative paths. */
  directory: text<string | null>(),
  profiles: json<string[] | null>(),
  /** Variables of the mapping, behind the `.env` of the repository. */
  mappedEnv: json<Record<string, string>>(),
  /** Encrypted text of `.env`, behind both. */
  sealedEnv: text<string | null>(),
  /** Whether the mapping of the repository made it. */
  isMapped: boolean(),
  /** The last version that was made of a commit, and its commit. */
  version: number<number | null>(),
  commitId: text<string | null>(),
  /** Commits since the deployed one; `null` while unknown. */
  behind: number<number | null>(),
  /** Whether a commit did not continue the history, and no person has deployed since. */
  isRewritten: boolean(),
  /** Whether the repository does not have the file any more. */
  isOrphaned: boolean(),
  /** Why the newest commit did not become a version. */
  problem: text<string | null>(),
  deployedVersion: number<number | null>(),
  deployedCommit: text<string | null>(),
  /** Version whose deploy failed last. */
  failedVersion: number<number | null>(),
  /** Version whose plan was reported. */
  plannedVersion: number<number | null>(),
  /** Id of the last deploy whose end is recorded here. */
  seenJob: text<string | null>(),
}, { key: "stack" });

/** One stack as stored. */
export type GitStack = Row<typeof stacks>;

export const {
  find: selectGitStack,
  insert: insertGitStack,
  replace: replaceGitStack,
  delete: deleteGitStack,
  /** All stacks by name. */
  all: selectGitStacks,
  update: updateGitStack,
} = stacks;

/** By name. */
export const selectGitStacksOf = (db: Database, repositoryId: string): GitStack[] =>
  stacks.select(db, "WHERE repository_id = :repositoryId ORDER BY stack", { repositoryId });

export function deleteGitStacksOf(db: Database, repositoryId: string): void {
  db.run("DELETE FROM git_stacks WHERE repository_id = :repositoryId", { repositoryId });
}
