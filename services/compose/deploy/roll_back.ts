/** Rollback of a stack: what its last update or deploy has changed is taken back. @module */

import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import { type Job, selectJobs } from "../../../db/jobs.ts";
import { selectCurrentVersion } from "../../../db/stack_versions.ts";
import type { KeptData } from "../../../db/updates/previous.ts";
import { assertMayDo, type Caller } from "../../access/caller.ts";
import { openTargetRepository } from "../../backup/targets/open.ts";
import { translated } from "../../backup/targets/repository.ts";
import { listAll } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import type { JobView } from "../../jobs/view.ts";
import {
  changedBy,
  type StackRollbackRequest,
  startStackRollback,
} from "../../updates/run/roll_back_stack.ts";
import { stackRollbackKind, stackUpdateKind } from "../../updates/run/stack_kind.ts";
import { readUpdateSettings } from "../../updates/settings.ts";
import type { DeployInput, DeployResult, NamedImage, PlannedDeploy } from "./job.ts";
import { deployKind } from "./kinds.ts";
import { startDeploy } from "./start.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Longest wait for the target, in milliseconds. */
const TARGET_MS = 60_000;

/** Jobs of a stack that are searched. */
const JOBS_MAX = 200;

/** The job of `services/snapshots/stack/`, which imports this feature. */
const RESTORE_ID = "backup.restore_stack";

/** Steps of jobs that have changed something for good, or until they have put it back. */
const CHANGING_STEP = /^(commit( \d+)?|failure)$/;

/**
 * Starts a job that takes back what the last update or deploy of a stack has changed, and with `data`
 * gives volumes the data from before. After an update, containers go back to their images; after a
 * deploy, the version before is deployed with its images.
 *
 * @throws {AppError} As updates and deploys; `not_found`; `conflict` if nothing is kept to go back to; `forbidden`
 * after a deploy for callers who may not deploy.
 */
export async function rollBackStack(
  deps: Deps,
  caller: Caller,
  request: Omit<StackRollbackRequest, "actor">,
): Promise<JobView> {
  const { name } = request;
  const changes = changesOf(deps, name);
  const [last] = changes;
  if (!last) {
    const isDeployed = (await listAll(deps)).some(({ composeProject }) => composeProject === name);
    if (!isDeployed) requireFound(selectCurrentVersion(deps.db, name), "Stack", name);
    throw new AppError("conflict", `No update or deploy of ${name} is kept`);
  }
  assertTakenBack(last);
  const assertLast = () => {
    if (changesOf(deps, name)[0]?.id === last.id) return;
    throw new AppError("conflict", `${name} was changed meanwhile; try again`);
  };
  if (last.kind !== deployKind.id) {
    return await startStackRollback(deps, { ...request, actor: caller }, { last, assertLast });
  }
  assertMayDo(caller, "admin", "stacks:write");
  const before = changes.slice(1)
    .find(({ kind, status }) => status !== "succeeded" || VERSIONED.includes(kind));
  if (!before) throw new AppError("conflict", `No deploy of ${name} before the last one is kept`);
  assertWhole(before);
  return await startDeploy(deps, caller, name, {
    version: versionOf(before),
    pull: "never",
    removeOrphans: true,
    stableSeconds: request.stableSeconds,
    healthTimeoutSeconds: request.verifyTimeoutSeconds,
    data: "keep",
    rehearse: false,
  }, {
    images: await imagesOf(deps, last),
    restored: request.data ? await dataOf(deps, last) : undefined,
    assertLast,
  });
}

/** Kinds of jobs that deploy a version. */
const VERSIONED: readonly string[] = [deployKind.id, RESTORE_ID];

/** The ended jobs that have changed containers of a stack, newest first. */
const changesOf = ({ db }: Pick<Deps, "db">, target: string): Job[] =>
  selectJobs(db, {
    kind: [...VERSIONED, stackUpdateKind.id, stackRollbackKind.id],
    target,
  }, { limit: JOBS_MAX }).filter((job) => job.endedAt !== null && hasChanged(job));

function hasChanged(job: Job): boolean {
  const { kind, status, result, steps } = job;
  if (status === "rolled_back") return false;
  if (status === "needs_attention") return true;
  if (status !== "succeeded") return steps.some(({ name }) => CHANGING_STEP.test(name));
  if (kind === RESTORE_ID) return true;
  return kind === deployKind.id
    ? (result as DeployResult).changes.some(({ action }) => action !== "none")
    : changedBy(job).length > 0;
}

/** @throws {AppError} `conflict` for a job that cannot be taken back. */
function assertTakenBack(last: Job): void {
  assertWhole(last);
  if (last.kind !== RESTORE_ID) return;
  const advice = "restore the snapshot that it has kept";
  throw new AppError("conflict", `The last change of ${last.target} was a restore; ${advice}`);
}

/** @throws {AppError} `conflict` for a job that has changed the stack in part. */
function assertWhole({ status, target, createdAt }: Job): void {
  if (status === "succeeded") return;
  throw new AppError(
    "conflict",
    `The change of ${target} of ${createdAt} ended as ${status} and left it changed in part; ` +
      "deploy a version or restore a snapshot instead",
  );
}

const versionOf = ({ kind, input, result }: Job): number =>
  (kind === RESTORE_ID ? result as { version: number } : input as DeployInput).version;

const recordOf = ({ steps }: Job, step: string): unknown =>
  steps.find(({ name }) => name === step)?.value;

/** @throws {AppError} `conflict` for an image that was removed since. */
async function imagesOf({ engine }: Pick<Deps, "engine">, deploy: Job): Promise<NamedImage[]> {
  const images = (recordOf(deploy, "read") ?? []) as NamedImage[];
  for (const { reference, imageId } of images) {
    if (imageId === null || await ifThere(imageInspect(engine, imageId))) continue;
    const message = `The image that ${reference} named before the last deploy was removed`;
    throw new AppError("conflict", message);
  }
  return images;
}

/** @throws {AppError} `conflict` if the deploy kept no data, or too long ago. */
async function dataOf(deps: Deps, deploy: Job): Promise<KeptData> {
  const { data } = deploy.result as DeployResult;
  const { undone } = recordOf(deploy, "plan") as PlannedDeploy;
  const { targetId } = deploy.input as DeployInput;
  const keptMs = readUpdateSettings(deps).keepPreviousDays * DAY_MS;
  const isKept = Date.parse(deploy.endedAt!) + keptMs > deps.now().getTime();
  if (!data || !undone || targetId === undefined || !isKept) {
    throw new AppError("conflict", `The last deploy of ${deploy.target} kept no data (data: undo)`);
  }
  const signal = AbortSignal.timeout(TARGET_MS);
  using opened = await openTargetRepository(deps, targetId, signal);
  await translated(() => opened.repository.snapshot(data.before, signal));
  const { volumes } = undone;
  return { targetId, place: data.target, snapshot: data.before, volumes };
}
