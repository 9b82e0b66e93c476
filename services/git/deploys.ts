/** Deploys of new versions: their ends, and the next step of each stack. @module */

import { selectGitRepository } from "../../db/git_repositories.ts";
import {
  type GitStack,
  selectGitStack,
  selectGitStacks,
  updateGitStack,
} from "../../db/git_stacks.ts";
import { type Job, selectJobs, selectUnfinishedJobOf } from "../../db/jobs.ts";
import { selectCurrentVersion, selectStackVersion } from "../../db/stack_versions.ts";
import { automaticActor, recordAudit } from "../access/audit/audit.ts";
import type { Caller } from "../access/caller.ts";
import { deployKind } from "../compose/deploy/kinds.ts";
import type { DeployInput } from "../compose/deploy/job.ts";
import { planStoredStack } from "../compose/plan/stored.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import { emit } from "../events/emit.ts";
import { createNextDue } from "../input/cron.ts";
import { errorFields } from "../log.ts";
import { readUpdateSettings } from "../updates/settings.ts";
import { openedAt } from "../updates/window.ts";
import type { Bare } from "./fetch/bare.ts";
import { openRepository } from "./fetch/repository.ts";
import { AUTHOR, measure } from "./follow.ts";
import { nextStep, stateOf } from "./state.ts";
import { isAccepted } from "./repositories.ts";
import { reportStatus } from "./status/channel.ts";
import { hasOtherLabels, labelsOfHost } from "./labels.ts";

/** Jobs that are read of a stack. */
const JOBS_READ = 20;

export const ACTOR = automaticActor(AUTHOR);

/** The service itself, with the rights of those who chose the automation. */
const CALLER: Caller = { userId: AUTHOR, role: "admin", familyId: "", address: "" };

/** Records the ends of deploys, and takes the next step of every stack. */
export async function continueStacks(deps: Deps): Promise<void> {
  const stacks = selectGitStacks(deps.db);
  {
    // One worker for all stacks of a repository, which ends before anything is deployed.
    using opened = new DisposableStack();
    const repositories = new Map<string, Bare>();
    const open: OpenBare = (id) => {
      const known = repositories.get(id) ?? opened.use(openRepository(deps, id));
      repositories.set(id, known);
      return known;
    };
    for (const { stack } of stacks) await recordDeploys(deps, stack, open);
  }
  const isOpen = isWindowOpen(deps);
  for (const { stack } of stacks) await takeStep(deps, stack, isOpen);
}

type OpenBare = (repositoryId: string) => Bare;

/** Without windows, it is always time. */
function isWindowOpen(deps: Deps): boolean {
  const { windows } = readUpdateSettings(deps);
  const next = createNextDue();
  return windows.length === 0 ||
    windows.some((window) => openedAt(window, deps.now(), { next }) !== undefined);
}

/** Finds out from the jobs of a stack which version is deployed, and which one failed. */
async function recordDeploys(deps: Deps, stack: string, open: OpenBare): Promise<void> {
  const { db } = deps;
  const row = selectGitStack(db, stack);
  if (!row) return;
  const ended = endedDeploys(db, stack);
  const seen = ended.findIndex(({ id }) => id === row.seenJob);
  const fresh = seen < 0 ? ended : ended.slice(0, seen);
  const [last] = fresh;
  if (!last) return;
  const deployed = fresh.find(({ status }) => status === "succeeded")?.version;
  db.transaction(() => {
    updateGitStack(db, stack, {
      seenJob: last.id,
      failedVersion: heldVersion(deps, row, last),
      ...(fresh.some((job) => isConfirmed(row, job)) && { isRewritten: false }),
      ...(deployed !== undefined && {
        deployedVersion: deployed,
        deployedCommit: selectStackVersion(db, stack, deployed)?.gitCommit?.id ?? null,
      }),
    });
    for (const job of fresh.toReversed()) reportDeploy(deps, row, job);
  });
  if (last.status === "succeeded" && last.createdBy === AUTHOR) await recordWorking(deps, stack);
  const head = selectGitRepository(db, row.repositoryId)?.head;
  if (!head) return;
  // A damaged repository does not keep other stacks from their steps.
  await measure(deps, open(row.repositoryId), head.id, stack).catch((error) =>
    deps.log.warn("git commits not counted", { stack, ...errorFields(error) })
  );
}

/** An engine that is away costs the next wave some time only. */
async function recordWorking(deps: Deps, stack: string): Promise<void> {
  try {
    await (await import("./gate.ts")).recordDeployed(deps, stack);
  } catch (error) {
    if (!asAppError(error)) throw error;
    deps.log.warn("deployed images not reported", { stack, ...errorFields(error) });
  }
}

/** The version that automation does not deploy (again) after the end of a deploy. */
function heldVersion({ db }: Deps, row: GitStack, job: EndedDeploy): number | null {
  const { stack, version, failedVersion } = row;
  if (job.status !== "succeeded") return Math.max(job.version, failedVersion ?? 0);
  if (version === null || job.version >= version || job.createdBy === AUTHOR) return null;
  // A person went back to an earlier version, unless the newer one came meanwhile.
  const newest = selectStackVersion(db, stack, version);
  return newest && newest.createdAt <= job.createdAt ? version : failedVersion;
}

/** Whether a person deployed the newest version, whatever the history is. */
const isConfirmed = ({ version: newest }: GitStack, { status, version, createdBy }: EndedDeploy) =>
  status === "succeeded" && version === newest && createdBy !== AUTHOR;

function reportDeploy(
  deps: Deps,
  { stack, repositoryId }: GitStack,
  { id: job, status, version, error }: EndedDeploy,
): void {
  const commit = selectStackVersion(deps.db, stack, version)?.gitCommit?.id;
  if (commit === undefined) return;
  const isDone = status === "succeeded";
  reportStatus(deps, selectGitRepository(deps.db, repositoryId), {
    stack,
    commit,
    job,
    state: isDone ? "success" : "failure",
    description: isDone
      ? `Version ${version} is deployed`
      : error ?? `The deploy ${status === "cancelled" ? "was cancelled" : "failed"}`,
  });
}

type EndedDeploy =
  & Pick<Job, "id" | "status" | "error" | "createdBy" | "createdAt">
  & Pick<DeployInput, "version">;

/** Deploys of a whole stack that have ended, newest first. */
export function endedDeploys(db: Deps["db"], stack: string): EndedDeploy[] {
  return selectJobs(db, { kind: [deployKind.id], target: stack }, { limit: JOBS_READ })
    .map(({ input, ...job }) => ({ ...job, ...input as DeployInput }))
    // A deploy of some services leaves the others as they are.
    .filter(({ status, services }) =>
      services === null && status !== "queued" && status !== "running"
    );
}

async function takeStep(deps: Deps, stack: string, isOpen: boolean): Promise<void> {
  const { db, maintenance } = deps;
  const row = selectGitStack(db, stack);
  if (!row) return;
  const current = selectCurrentVersion(db, stack);
  const step = nextStep(row, {
    state: stateOf(row, current?.version),
    isOpen,
    isBusy: maintenance.active ||
      selectUnfinishedJobOf(db, { targetType: "stack", target: stack }) !== undefined,
  });
  if (step !== "none" && (!isTrusted(deps, row) || !isChosen(deps, row))) return;
  const attempt = attemptOf(stack, row.version);
  if (step === "none" || deps.git.isPaused(attempt, deps.now())) return;
  try {
    await (step === "plan" ? reportPlan(deps, row) : deploy(deps, row));
  } catch (error) {
    if (!asAppError(error)) throw error;
    deps.git.pause(attempt, deps.now());
    deps.log.warn(`git ${step} not started`, { stack, ...errorFields(error) });
  }
}

const attemptOf = (stack: string, version: number | null): string => `${stack} ${version}`;

/** Versions of unsigned commits may wait from before signatures were required. */
function isTrusted({ db }: Deps, { stack, repositoryId, version }: GitStack): boolean {
  const repository = selectGitRepository(db, repositoryId);
  const commit = selectStackVersion(db, stack, version!)?.gitCommit;
  return repository !== undefined && !!commit && isAccepted(repository, commit);
}

/** Labels of this host can have changed since its repository was fetched. */
function isChosen(deps: Deps, { isMapped, repositoryId }: GitStack): boolean {
  const repository = selectGitRepository(deps.db, repositoryId);
  return !isMapped || !repository || !hasOtherLabels(repository, labelsOfHost(deps));
}

async function reportPlan(deps: Deps, { stack, repositoryId, version }: GitStack): Promise<void> {
  const { changes, version: planned } = await planStoredStack(deps, CALLER, stack);
  // A person has edited it meanwhile.
  if (planned !== version) return;
  const commit = selectStackVersion(deps.db, stack, version!)?.gitCommit;
  if (!commit) return;
  const { id, author, message } = commit;
  const data = {
    stack,
    repository: selectGitRepository(deps.db, repositoryId)?.name ?? "",
    version: version!,
    commit: id,
    author,
    message,
    changes: changes.filter(({ action }) => action !== "none")
      .map(({ action, name }) => `${action} ${name}`),
  };
  emit(deps, "git.planned", data, () => {
    updateGitStack(deps.db, stack, { plannedVersion: version });
  });
}

async function deploy(deps: Deps, { stack, version, commitId }: GitStack): Promise<void> {
  const { refusalOf } = await import("./gate.ts");
  const refusal = await refusalOf(deps, stack, version!);
  if (refusal !== undefined) {
    deps.git.pause(attemptOf(stack, version), deps.now());
    return deps.log.info("git deploy waits", { stack, reason: refusal });
  }
  const { startDeploy } = await import("../compose/deploy/start.ts");
  const job = await startDeploy(deps, CALLER, stack, { expectedVersion: version! });
  deps.log.info("git deploy started", { stack, job: job.id, commit: commitId });
  recordAudit(deps, {
    caller: ACTOR,
    action: "git deploy",
    target: stack,
    command: `version ${version}, commit ${commitId}`,
    outcome: "success",
  });
}
