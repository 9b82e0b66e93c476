/** Takes a failed restore of a stack back: nothing of a new one stays, and a replaced one returns. @module */

import { putPartsBack } from "../../backup/trees/keep.ts";
import { deleteHostPath } from "../../backup/volumes/host_path.ts";
import { restoreNames } from "../../compose/deploy/back.ts";
import type { NamedImage } from "../../compose/deploy/job.ts";
import { returnToVersion } from "../../compose/restored_sources.ts";
import type { Deps } from "../../deps.ts";
import { AppError, messageFor } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import type { Evidence } from "../../updates/run/evidence.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { type Held, hold, planHold, release } from "../hold.ts";
import { operationOf } from "../job.ts";
import { replacedParts, type StackRestoreJob } from "./job.ts";
import { removeParts } from "./parts.ts";
import { usersOfStack } from "./users.ts";

/** Step that stores a failure, so that a restart takes it back and does not try again. */
export const FAILURE = "failure";

/** Value of the step `failure`. */
export interface Failure {
  reason: string;
  /** Whether volumes and directories may have been created or changed. */
  hasWritten: boolean;
  /** Logs and health checks of containers that failed. */
  evidence: Evidence[];
}

/** The state before the restore. */
export interface Before {
  held: Held;
  /** Of the sources; `null` without stored ones. */
  version: number | null;
}

/** The snapshot of what was there before the first write. */
export const keptBy = (job: StackRestoreJob): string | null =>
  (job.resultOf("keep again") ?? job.resultOf("keep") ?? null) as string | null;

/** The deploy has removed its containers. @throws {JobEnd} Always. */
export async function takeBack(
  deps: Deps,
  job: StackRestoreJob,
  { held, version }: Before,
): Promise<never> {
  const { reason, hasWritten, evidence } = job.resultOf(FAILURE) as Failure;
  const { input, target: name } = job;
  const operation = operationOf("backup.restore_stack", name);
  const kept = keptBy(job);
  const result = { kept, target: input.place, evidence };
  try {
    await restoreNames(deps, (job.resultOf("names") ?? []) as NamedImage[]);
    if (hasWritten) {
      await job.step("put back", async () => {
        const stop = () => stopUsers(deps, job, held);
        await stop();
        await removeParts(deps, job);
        await removePaths(deps, job);
        if (input.to === "replace") await putBack(deps, job, stop);
        if (job.hasBegun("sources")) {
          await returnToVersion(deps, { name, userId: input.userId, version });
        }
      });
    }
    await job.step("start again", () => release(deps, held, operation));
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    const message = messageFor(deps.log, failure, "restore not taken back", { job: job.id });
    const place = kept === null ? "" : `; what was there is in snapshot ${kept}`;
    throw new JobEnd(
      "needs_attention",
      `${reason}. Taking it back failed: ${message}${place}`,
      result,
    );
  }
  throw new JobEnd("rolled_back", reason, result);
}

/**
 * Stops the old containers. A new one is left if the deploy could not take it back.
 *
 * @throws {AppError} `conflict` while a container uses what would be deleted under it.
 */
async function stopUsers(
  deps: Deps,
  { target, input }: StackRestoreJob,
  held: Held,
): Promise<void> {
  await hold(deps, held, operationOf("backup.restore_stack", target));
  const [user] = planHold("stop", await usersOfStack(deps, target, input)).containers;
  if (!user) return;
  throw new AppError("conflict", `${user.name} still uses what was restored; stop it`);
}

/** Directories and files of the host that this job has created. */
async function removePaths(deps: Deps, job: StackRestoreJob): Promise<void> {
  const { created } = job.input;
  const signal = deps.jobs.stopping;
  for (const path of created) await deleteHostPath(deps, path, signal);
}

/** Also for a job that was cancelled. */
async function putBack(
  deps: Deps,
  job: StackRestoreJob,
  stop: () => Promise<void>,
): Promise<void> {
  const parts = replacedParts(job.input).map(({ to }) => to);
  if (parts.length === 0) return;
  const { input: { affected, images, targetId }, progress } = job;
  const used = { parts, images, containers: affected };
  await putPartsBack(deps, { ...used, targetId, snapshot: keptBy(job)! }, {
    job: { signal: deps.jobs.stopping, progress },
    stop,
  });
}
