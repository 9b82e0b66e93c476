/** Stacks that begin or stop to follow a repository, and the edits of such stacks. @module */

import type { GitRepository } from "../../db/git_repositories.ts";
import {
  deleteGitStack,
  type GitStack,
  replaceGitStack,
  selectGitStack,
  updateGitStack,
} from "../../db/git_stacks.ts";
import {
  selectCurrentVersion,
  selectStackVersion,
  type VersionCommit,
} from "../../db/stack_versions.ts";
import type { Caller } from "../access/caller.ts";
import { loadDeployable } from "../compose/given_sources.ts";
import { planSources } from "../compose/plan/stored.ts";
import { assertRoomForStack } from "../compose/sources.ts";
import { keptSources, type StoredSources } from "../compose/validate.ts";
import { findCurrent, findVersion, insertVersion, openVersion } from "../compose/versions.ts";
import type { Deps } from "../deps.ts";
import { AppError, PlanRefusedError, requireFound } from "../errors.ts";
import { openSecrets } from "./credentials.ts";
import { endedDeploys } from "./deploys.ts";
import { openRepository } from "./fetch/repository.ts";
import { openTree } from "./fetch/tree.ts";
import { AUTHOR, describe, NEW_ROW } from "./follow.ts";
import { assertUnchanged, isAccepted, requireRepository } from "./repositories.ts";
import { envText, readStackSources } from "./stack_sources.ts";
import { type StackState, stateOf } from "./state.ts";
import { syncRepository } from "./sync.ts";
import { joinVariables, openEnv, sealEnv } from "./variables.ts";

/** How a stack follows a repository. */
export interface StackFollowing
  extends Pick<GitStack, "repositoryId" | "path" | "deploy" | "directory" | "profiles"> {
  /** Variables behind those of the repository; `undefined` keeps them. */
  env: Record<string, string> | undefined;
  acceptRecreate: boolean;
}

export interface StackGitView extends
  Pick<
    GitStack,
    | "path"
    | "deploy"
    | "directory"
    | "profiles"
    | "isMapped"
    | "version"
    | "behind"
    | "problem"
    | "deployedVersion"
    | "deployedCommit"
  > {
  repository: Pick<GitRepository, "id" | "name" | "url" | "error" | "checkedAt">;
  state: StackState;
  /** Of the newest version. */
  commit: VersionCommit | null;
  /** Versions of the commit and of the edit; `null` without an edit. */
  drift: { from: number; to: number } | null;
}

/** How a stack follows a repository; `null` for one that follows none. */
export const findStackGit = (deps: Pick<Deps, "db">, stack: string): StackGitView | null =>
  selectGitStack(deps.db, stack) ? getStackGit(deps, stack) : null;

function getStackGit(deps: Pick<Deps, "db">, stack: string): StackGitView {
  const { db } = deps;
  const row = requireRow(deps, stack);
  const { id, name, url, error, checkedAt } = requireRepository(deps, row.repositoryId);
  const current = selectCurrentVersion(db, stack);
  const state = stateOf(row, current?.version);
  const found = row.version === null ? undefined : selectStackVersion(db, stack, row.version);
  return {
    ...row,
    repository: { id, name, url, error, checkedAt },
    state,
    commit: found?.gitCommit ?? null,
    drift: state === "drift" && current ? { from: row.version!, to: current.version } : null,
  };
}

/**
 * Lets a stack follow a file of a repository: a new one, one with sources, or one that another program
 * has deployed. The files of the last commit become its next version. Nothing is deployed at once.
 *
 * @throws {PlanRefusedError} If a deploy would recreate containers, which the caller does not accept.
 * @throws {AppError} `not_found`; `invalid` for sources that cannot be deployed; `conflict` for a stack
 * that follows another repository, and for a repository without an accepted commit.
 */
export async function attachStack(
  deps: Deps,
  caller: Caller,
  stack: string,
  { acceptRecreate, env, ...settings }: StackFollowing,
): Promise<StackGitView> {
  const { db } = deps;
  const { repositoryId: id } = settings;
  if (requireRepository(deps, id).head === null) await syncRepository(deps, id, caller);
  return await deps.git.run(id, async () => {
    const repository = requireFetched(deps, id);
    const known = selectGitStack(db, stack);
    if (known && known.repositoryId !== repository.id) {
      throw new AppError("conflict", `Stack ${stack} follows another repository; detach it first`);
    }
    const current = selectCurrentVersion(db, stack);
    if (current?.kind === "swarm") {
      throw new AppError("conflict", `${stack} is a Swarm stack, which cannot follow a repository`);
    }
    if (!current) assertRoomForStack(deps);
    const before = current && openVersion(deps, current).sources;
    const variables = env === undefined ? keptVariables(deps, known, before) : envText(env);
    const mappedEnv = env === undefined ? known?.mappedEnv ?? {} : {};
    const all = joinVariables(mappedEnv, variables);
    const sources = await sourcesOf(deps, repository, settings, all, before);
    const plan = await planSources(deps, caller, stack, sources);
    if (!acceptRecreate && plan.changes.some(({ action }) => action === "recreate")) {
      throw new PlanRefusedError(
        `A deploy of ${settings.path} would recreate containers of ${stack}; set acceptRecreate to ` +
          "attach it all the same",
        plan.changes,
      );
    }
    const isUnchanged = plan.isDeployed && plan.changes.every(({ action }) => action === "none");
    if (selectCurrentVersion(db, stack)?.version !== current?.version) {
      throw new AppError("conflict", `The sources of ${stack} were changed meanwhile; try again`);
    }
    assertUnchanged(deps, repository);
    const { head } = repository;
    const version = (current?.version ?? 0) + 1;
    const row: GitStack = {
      ...NEW_ROW,
      ...known,
      ...settings,
      stack,
      mappedEnv,
      sealedEnv: sealEnv(deps, stack, variables),
      isMapped: false,
      version,
      commitId: head.id,
      isOrphaned: false,
      problem: null,
      seenJob: endedDeploys(db, stack)[0]?.id ?? null,
      ...(isUnchanged && { deployedVersion: version, deployedCommit: head.id, behind: 0 }),
    };
    insertVersion(deps, AUTHOR, {
      name: stack,
      kind: "compose",
      version,
      sources,
      commit: head,
      also: () => replaceGitStack(db, row),
    });
    deps.git.notify();
    deps.log.info("stack follows a git repository", { stack, repositoryId: repository.id });
    return getStackGit(deps, stack);
  });
}

/** @throws {AppError} `conflict` for a repository without an accepted commit. */
function requireFetched(
  deps: Pick<Deps, "db">,
  id: string,
): GitRepository & { head: VersionCommit } {
  const repository = requireRepository(deps, id);
  const { head, refused, name } = repository;
  if (head !== null && isAccepted(repository, head)) return { ...repository, head };
  throw new AppError(
    "conflict",
    `${name} has no accepted commit${refused === null ? "" : `: ${refused.reason}`}`,
  );
}

/** The variables that the stack has here, also before it followed a repository. */
function keptVariables(
  deps: Pick<Deps, "secrets">,
  known: GitStack | undefined,
  before: StoredSources | undefined,
): string | null {
  if (known) return openEnv(deps, known);
  const { env, place } = before ?? {};
  if (typeof env === "object") return envText(env);
  // The file of a stack on disk is one that belongs into the repository, like the others.
  return place ? null : env ?? null;
}

async function sourcesOf(
  deps: Deps,
  repository: GitRepository & { head: VersionCommit },
  settings: Pick<GitStack, "path" | "directory" | "profiles">,
  variables: string | null,
  before: StoredSources | undefined,
): Promise<StoredSources> {
  const { id, head } = repository;
  const { path, directory } = settings;
  using bare = openRepository(deps, id);
  const tree = openTree(bare, head.id);
  const base = directory === null ? before?.place ?? before?.base : undefined;
  const sources = await readStackSources(deps, tree, settings, {
    env: variables,
    ageIdentity: openSecrets(deps, repository).ageIdentity,
  }, base);
  if (!sources) {
    throw new AppError("not_found", `Commit ${head.id.slice(0, 10)} does not have ${path}`);
  }
  const after = before ? { ...keptSources(before), ...sources } : sources;
  try {
    await loadDeployable(deps, after, "stack", { hidesValues: true });
  } catch (error) {
    const problem = describe(error, settings);
    throw problem === undefined ? error : new AppError("invalid", problem, { cause: error });
  }
  return after;
}

/**
 * Lets a stack stop to follow its repository. Its sources and containers stay.
 *
 * @throws {AppError} `not_found`. A mapping reports it as a problem from then on.
 */
export function detachStack(deps: Pick<Deps, "db" | "log">, stack: string): void {
  requireRow(deps, stack);
  deleteGitStack(deps.db, stack);
  deps.log.info("stack stopped to follow a git repository", { stack });
}

/**
 * Discards an edit: the last commit becomes the current version again.
 *
 * @throws {AppError} `not_found`; `conflict` without an edit.
 */
export async function discardDrift(
  deps: Deps,
  caller: Caller,
  stack: string,
): Promise<StackGitView> {
  const row = requireRow(deps, stack);
  const current = findCurrent(deps, stack);
  if (stateOf(row, current.version) !== "drift") {
    throw new AppError("conflict", `The sources of ${stack} are those of the commit`);
  }
  const { stored, sources } = openVersion(deps, findVersion(deps, stack, row.version!));
  const version = current.version + 1;
  insertVersion(deps, caller.userId, {
    name: stack,
    kind: current.kind,
    version,
    sources,
    commit: stored.gitCommit,
    also: () =>
      updateGitStack(deps.db, stack, {
        version,
        // The edit was not deployed.
        ...(row.deployedVersion === row.version && { deployedVersion: version }),
      }),
  });
  // Commits that came meanwhile are followed now.
  await syncRepository(deps, row.repositoryId, caller, { isForced: true }).catch(() => {});
  return getStackGit(deps, stack);
}

const requireRow = ({ db }: Pick<Deps, "db">, stack: string): GitStack =>
  requireFound(selectGitStack(db, stack), "Git source of stack", stack);
