/** Starts updates of containers, and rollbacks to the image before one. @module */

import type { Scope } from "../../access/scope.ts";
import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { affectedBy } from "../../containers/reserve.ts";
import { assertDependentsInScope } from "../../containers/share_group.ts";
import type { JobKind } from "../../jobs/kind.ts";
import { type StartedJob, startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { compileLinearPattern } from "../../input/linear_pattern.ts";
import { dataChoice, groupOf, prepareUndo, updatedOf } from "../data/plan.ts";
import { keptBy, prepareRestored } from "../data/restored.ts";
import type { DataChoice } from "../labels.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { pullOfVisible, withVisibleImage } from "./choices.ts";
import { rollbackKind, updateKind } from "./kind.ts";
import { defaultPull, readLatest } from "./latest.ts";
import { logObstacles } from "./log_pattern.ts";
import { assertNoObstacle } from "./prepare.ts";
import { findPrevious, requireData } from "./previous.ts";
import type { UpdateInput } from "./job.ts";
import { rehearsalChoice, type RehearsalRequest } from "../rehearsal/choice.ts";
import { rehearsalObstacles } from "../rehearsal/preview.ts";
import { type Survey, surveyUpdate } from "./survey.ts";

/** Criteria for the new container. */
interface VerificationRequest {
  /**
   * Seconds that the new container has to run without a restart (default: the setting); with a health check,
   * to be healthy (default: one interval of the check).
   */
  stableSeconds?: number | undefined;
  /** Replaces the deadline that follows from the health check. */
  verifyTimeoutSeconds?: number | undefined;
  /** A regular expression that no line of the new container's log may match. */
  logPatternMustNotAppear?: string | undefined;
  /** Ids of uptime monitors whose check must succeed; see `assertMonitors()`. */
  monitors?: readonly string[] | undefined;
}

export interface UpdateRequest extends VerificationRequest, RehearsalRequest {
  /** Id, name or unambiguous prefix of an id. */
  containerId: string;
  /** Default: the reference that the container was created from. See `assertChoices()`. */
  image?: string | undefined;
  /** Default: `always`, but `never` for an image that came from no registry. */
  pull?: PullPolicy | undefined;
  /**
   * Ignores a blocked digest, too little room and another platform, and recreates a container that
   * already runs the image.
   */
  force?: boolean | undefined;
  /** The update fails if the reference leads to another manifest. */
  expectedDigest?: string | undefined;
  /** Default: by the labels of the container, else by the settings. */
  data?: DataChoice | undefined;
  /** Whether no person has requested it now. */
  isAutomatic?: boolean | undefined;
  actor: Actor;
}

/** Owner of the job, and the containers that this caller may change. */
export type Actor = Holder & { scope?: Scope | undefined };

interface RollbackRequest extends VerificationRequest {
  containerId: string;
  /** Whether volumes get the data from before the update, too. */
  data?: boolean | undefined;
  actor: Actor;
}

/**
 * Starts the update of a container as a job. It is reserved at once, together with all containers
 * that depend on it.
 *
 * @throws {AppError} `not_found`; `invalid` for an invalid pattern; `forbidden` if containers
 * outside of the actor's scope depend on it; `conflict` while another action is in progress, and with
 * everything that stands in the way.
 */
export async function startUpdate(deps: Deps, request: UpdateRequest): Promise<JobView> {
  const { containerId, image, force = false, expectedDigest, actor } = request;
  const found = await surveyUpdate(deps, containerId, { image, digest: expectedDigest });
  const survey = withVisibleImage(found, actor.scope);
  const pull = pullOfVisible(request.pull ?? defaultPull(survey.local), survey, found.local);
  const latest = force
    ? []
    : (await readLatest(deps, survey, { pull, digest: expectedDigest })).obstacles;
  const rehearsal = await rehearsalChoice(deps, request, [survey.container]);
  const obstacles = [
    ...survey.obstacles,
    ...latest,
    ...await rehearsalObstacles(deps, rehearsal, [survey.container.name], actor.scope),
  ];
  return (await startRun(deps, updateKind, { ...survey, obstacles }, request, {
    previousImageId: null,
    pull,
    force,
    expectedDigest: expectedDigest ?? null,
    data: request.data,
    rehearsal,
    isAutomatic: request.isAutomatic,
  })).job;
}

/**
 * Starts a job that goes back to the image before the last update, by the same steps. The image that
 * is left is blocked for automatic updates.
 *
 * @throws {AppError} As `startUpdate()`; `conflict` if no previous image is kept.
 */
export async function startRollback(deps: Deps, request: RollbackRequest): Promise<JobView> {
  const { name } = (await surveyUpdate(deps, request.containerId)).container;
  const previous = await findPrevious(deps, name);
  if (!previous) throw new AppError("conflict", `No previous image of ${name} is kept`);
  const survey = await surveyUpdate(deps, request.containerId, { image: previous.reference });
  return (await startRun(deps, rollbackKind, survey, request, {
    previousImageId: previous.imageId,
    pull: "never",
    force: false,
    expectedDigest: null,
    data: "keep",
    restored: request.data ? requireData(deps, name, previous) : undefined,
  })).job;
}

/** Starts a job that replaces a container by the steps of an update. @throws {AppError} */
export async function startRun<Result>(
  deps: Deps,
  kind: JobKind<UpdateInput, Result>,
  survey: Survey,
  { stableSeconds, verifyTimeoutSeconds, logPatternMustNotAppear, monitors = [], actor }:
    & VerificationRequest
    & { actor: Actor },
  { isRebuild = false, data, restored, ...input }:
    & Pick<UpdateInput, "previousImageId" | "pull" | "force" | "expectedDigest">
    & Partial<
      Pick<UpdateInput, "isAutomatic" | "isRebuild" | "obstacles" | "rehearsal" | "restored">
    >
    & Pick<UpdateRequest, "data">,
): Promise<StartedJob<Result>> {
  const { old, container, all, reference } = survey;
  if (logPatternMustNotAppear !== undefined) {
    await compileLinearPattern(logPatternMustNotAppear, { field: "body.logPatternMustNotAppear" });
  }
  const unreadable = logObstacles(deps.engine, old, logPatternMustNotAppear);
  assertNoObstacle([...survey.obstacles, ...unreadable], input.force);
  assertDependentsInScope(actor.scope, container, all);
  const isUndone = !isRebuild && input.rehearsal !== "only" &&
    dataChoice(deps, survey, data) === "undo";
  const undo = restored
    ? await prepareRestored(deps, keptBy(deps, survey), restored)
    : isUndone
    ? await prepareUndo(deps, [groupOf(updatedOf(deps, survey))], input)
    : undefined;
  const { id, name } = container;
  return startJob(deps, kind, {
    target: name,
    // A request waits for it.
    isUrgent: isRebuild,
    input: {
      ...input,
      ...undo,
      isRebuild,
      containerId: id,
      name,
      reference,
      affected: affectedBy(container, all),
      stableSeconds: stableSeconds ?? null,
      verifyTimeoutSeconds: verifyTimeoutSeconds ?? null,
      logPattern: logPatternMustNotAppear ?? null,
      monitors: [...new Set(monitors)],
    },
    caller: actor,
  });
}
