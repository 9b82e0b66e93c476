/** Stacks that follow a repository: what a commit changes of each. @module */

import { posix } from "node:path";
import type { GitRepository } from "../../db/git_repositories.ts";
import {
  type GitStack,
  insertGitStack,
  selectGitStack,
  selectGitStacksOf,
  updateGitStack,
} from "../../db/git_stacks.ts";
import {
  selectCurrentVersion,
  type StackVersion,
  type VersionCommit,
} from "../../db/stack_versions.ts";
import { stackOf } from "../access/scope.ts";
import { loadDeployable } from "../compose/given_sources.ts";
import { assertRoomForStack, isSame } from "../compose/sources.ts";
import { keptSources, type StoredSources } from "../compose/validate.ts";
import { insertVersion, openVersion } from "../compose/versions.ts";
import { listAll, type ReadDeps } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { asAppError, InputError } from "../errors.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { Bare } from "./fetch/bare.ts";
import { printable } from "./fetch/commits.ts";
import { openTree, type Tree } from "./fetch/tree.ts";
import { openSecrets } from "./credentials.ts";
import { findStacks, type MappedStack } from "./mapping.ts";
import { assertUnchanged } from "./repositories.ts";
import { readStackSources } from "./stack_sources.ts";
import { reportStatus } from "./status/channel.ts";
import { joinVariables, openEnv } from "./variables.ts";

export type FollowDeps =
  & EmitDeps
  & ReadDeps
  & Pick<
    Deps,
    "composeLoader" | "config" | "db" | "git" | "log" | "now" | "outbox" | "secrets"
  >;

/** Author of the versions that are made of commits, instead of the id of a user. */
export const AUTHOR = "git";

/** Problems of a mapping that are kept. */
const PROBLEMS_MAX = 50;

/** A commit with its files. */
export interface FetchedCommit {
  bare: Bare;
  commit: VersionCommit;
}

/**
 * Lets a commit become a version of each stack that it changes. Can be repeated.
 *
 * @param repository With the labels that this host has now.
 * @returns What is wrong with the mapping.
 */
export async function followCommit(
  deps: FollowDeps,
  repository: GitRepository,
  { bare, commit }: FetchedCommit,
): Promise<string[]> {
  await markRewritten(deps, repository, bare, commit.id);
  const tree = openTree(bare, commit.id);
  const { stacks, problems } = await findStacks(tree, repository);
  problems.push(...await followMapping(deps, repository, stacks));
  for (const row of selectGitStacksOf(deps.db, repository.id)) {
    await followStack(deps, repository, { bare, commit }, tree, row);
  }
  const more = problems.length - PROBLEMS_MAX;
  const shown = problems.slice(0, PROBLEMS_MAX).map(printable);
  return more <= 0 ? shown : [...shown, `and ${more} more`];
}

/**
 * Lets the automation of stacks wait for a person if the commit does not continue the history. Before
 * any version is stored, because the automation looks at each at once.
 */
async function markRewritten(
  { db }: Pick<Deps, "db">,
  { id, head }: GitRepository,
  bare: Bare,
  commit: string,
): Promise<void> {
  for (const { stack, deployedCommit } of selectGitStacksOf(db, id)) {
    // After a change of the address, only the deployed commit is known.
    const base = head?.id ?? deployedCommit;
    if (base === null) continue;
    const { isForward } = await bare.range(base, commit);
    if (!isForward) updateGitStack(db, stack, { isRewritten: true });
  }
}

/**
 * Creates and changes the rows of mapped stacks. A stack of another origin is not taken over, and what a
 * person has set for one is kept.
 */
async function followMapping(
  deps: FollowDeps,
  repository: GitRepository,
  mapped: readonly MappedStack[],
): Promise<string[]> {
  const { db } = deps;
  const problems: string[] = [];
  const projects = mapped.length > 0 ? new Set((await listAll(deps)).map(stackOf)) : new Set();
  assertUnchanged(deps, repository);
  const { id, mapping } = repository;
  for (const { stack, ...settings } of mapped) {
    const row = selectGitStack(db, stack);
    if (row?.repositoryId === id) {
      // A commit decides neither the file nor the settings of a stack that is there.
      if (row.path !== settings.path) {
        problems.push(
          `${settings.path}: stack ${stack} follows ${row.path}; attach it to this file, or give ` +
            "it another name in the mapping",
        );
      } else if (row.isMapped) updateGitStack(db, stack, { ...settings, isOrphaned: false });
    } else if (row || selectCurrentVersion(db, stack) || projects.has(stack)) {
      problems.push(
        `${settings.path}: stack ${stack} exists already and does not follow this repository; ` +
          "attach it to the repository, or give it another name in the mapping",
      );
    } else insertGitStack(db, { ...NEW_ROW, ...settings, stack, repositoryId: id, isMapped: true });
  }
  const names = new Set(mapped.map(({ stack }) => stack));
  for (const { stack, isMapped } of selectGitStacksOf(db, id)) {
    // Without a mapping, a stack that was mapped is as one by hand.
    if (!isMapped || names.has(stack)) continue;
    updateGitStack(db, stack, mapping.length === 0 ? { isMapped: false } : { isOrphaned: true });
  }
  return problems;
}

export const NEW_ROW = {
  profiles: null,
  mappedEnv: {},
  sealedEnv: null,
  version: null,
  commitId: null,
  behind: null,
  isRewritten: false,
  isOrphaned: false,
  problem: null,
  deployedVersion: null,
  deployedCommit: null,
  failedVersion: null,
  plannedVersion: null,
  seenJob: null,
} satisfies Partial<GitStack>;

/** Makes the next version of one stack, unless it is the same or a person has changed it. */
async function followStack(
  deps: FollowDeps,
  repository: GitRepository,
  { bare, commit }: FetchedCommit,
  tree: Tree,
  { stack, isMapped }: GitStack,
): Promise<void> {
  const { db } = deps;
  // Read again, because a request may have changed it meanwhile.
  const row = selectGitStack(db, stack);
  if (!row || (isMapped && row.isOrphaned)) return;
  const current = selectCurrentVersion(db, stack);
  if (isHeld(row, current)) return;
  let versions: { before: StoredSources | undefined; after: StoredSources };
  try {
    const before = current && openVersion(deps, current).sources;
    const base = row.directory === null ? before?.base : undefined;
    const sources = await readStackSources(deps, tree, row, {
      env: joinVariables(row.mappedEnv, openEnv(deps, row)),
      ageIdentity: openSecrets(deps, repository).ageIdentity,
    }, base);
    if (!sources) {
      assertUnchanged(deps, repository);
      updateGitStack(db, stack, { isOrphaned: true });
      return;
    }
    const after = before ? { ...keptSources(before), ...sources } : sources;
    await loadDeployable(deps, after, stack, { hidesValues: true });
    if (!before) assertRoomForStack(deps);
    versions = { before, after };
  } catch (error) {
    assertUnchanged(deps, repository);
    const problem = describe(error, row);
    if (problem === undefined) throw error;
    reportProblem(deps, repository, commit, row, problem);
    return;
  }
  assertUnchanged(deps, repository);
  storeVersion(deps, repository, row, commit, versions);
  await measure(deps, bare, commit.id, stack);
}

/** In one transaction with its row, so that after a crash no version counts as an edit. */
function storeVersion(
  deps: FollowDeps,
  repository: GitRepository,
  { stack, version }: GitStack,
  commit: VersionCommit,
  { before, after: sources }: { before: StoredSources | undefined; after: StoredSources },
): void {
  const { db } = deps;
  // A request may have changed the stack meanwhile; the next round sees it.
  const current = selectCurrentVersion(db, stack);
  if (isHeld({ version }, current)) return;
  const found = { isOrphaned: false, problem: null };
  if (before && isSameStack(before, sources)) {
    updateGitStack(db, stack, found);
    return;
  }
  const next = (current?.version ?? 0) + 1;
  insertVersion(deps, AUTHOR, {
    name: stack,
    kind: "compose",
    version: next,
    sources,
    commit,
    also: () => {
      updateGitStack(db, stack, { ...found, version: next, commitId: commit.id });
      const description = `Version ${next} is not deployed yet`;
      reportStatus(deps, repository, { stack, commit: commit.id, state: "pending", description });
    },
  });
  deps.git.notify();
}

/** Whether a person has changed or removed the sources, or has stored some before the first commit. */
const isHeld = ({ version }: Pick<GitStack, "version">, current: StackVersion | undefined) =>
  version !== (current?.version ?? null);

const isSameStack = (before: StoredSources, after: StoredSources) =>
  isSame(before, after) &&
  JSON.stringify([before.profiles, before.base]) === JSON.stringify([after.profiles, after.base]);

/** Problem of the files of a stack; `undefined` for other errors. */
export function describe(error: unknown, { path }: Pick<GitStack, "path">): string | undefined {
  if (!(error instanceof InputError)) {
    const known = asAppError(error);
    return known?.code === "unavailable" ? undefined : known?.message;
  }
  const [issue] = error.issues;
  const file = issue!.path === "body.compose"
    ? path
    : posix.join(posix.dirname(path), issue!.path.replace(/^body\.files\./, ""));
  return `${file}:${issue!.message}`;
}

/** Reports a problem once. */
function reportProblem(
  deps: FollowDeps,
  repository: GitRepository,
  { id, author, message }: VersionCommit,
  { stack, problem }: GitStack,
  reason: string,
): void {
  if (reason === problem) return;
  const data = { repository: repository.name, stack, commit: id, author, message, reason };
  emit(deps, "git.commit_refused", data, () => {
    updateGitStack(deps.db, stack, { problem: reason });
    reportStatus(deps, repository, { stack, commit: id, state: "failure", description: reason });
  });
}

/** Counts the commits since the deployed one. */
export async function measure(
  { db }: Pick<Deps, "db">,
  bare: Bare,
  head: string,
  stack: string,
): Promise<void> {
  const row = selectGitStack(db, stack);
  if (!row) return;
  const { deployedCommit, version, deployedVersion } = row;
  if (version === deployedVersion) {
    updateGitStack(db, stack, { behind: 0 });
    return;
  }
  if (deployedCommit === null) {
    updateGitStack(db, stack, { behind: null });
    return;
  }
  const { commits, isPartial } = await bare.range(deployedCommit, head);
  updateGitStack(db, stack, { behind: commits.length + (isPartial ? 1 : 0) });
}
