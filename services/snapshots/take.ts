/** Makes a snapshot of a stack or of volumes. @module */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { withoutContainerValues } from "../containers/secret_values.ts";
import { type Contents, contentsOfStack, contentsOfVolumes, writersOf } from "./contents.ts";
import { describeStack } from "./description.ts";
import { hold, planHold, release } from "./hold.ts";
import { hooksOf } from "./hooks.ts";
import {
  operationOf,
  type SnapshotInput,
  type SnapshotJob,
  type SnapshotPlan,
  type SnapshotResult,
} from "./kinds.ts";
import { outputOf, runHook } from "./run_hooks.ts";
import { type Dump, treeOf } from "./tree.ts";

/** Paths of skipped entries that a result has. */
const SKIPPED_MAX = 100;

/**
 * The containers continue in any case, also after a failure and while the service stops.
 *
 * @throws {AppError} If nothing was stored, or a container did not start again.
 */
export async function takeSnapshot(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  const contents = await contentsOf(deps, job.input);
  const { mode } = job.input;
  const writers = writersOf(contents);
  const { held } = await job.step("plan", async (): Promise<SnapshotPlan> => ({
    held: mode === "stop" || mode === "pause" ? planHold(mode, writers) : null,
  }));
  throw new AppError("conflict", "todo");
}

function contentsOf(deps: Deps, { stack, volumes }: SnapshotInput): Promise<Contents> {
  return stack === null ? contentsOfVolumes(deps, volumes ?? []) : contentsOfStack(deps, stack);
}

/** A backup that a stop of the service interrupted; what was stored is reused by the next one. */
export async function releaseInterrupted(deps: Deps, job: SnapshotJob): Promise<never> {
  const { held } = (job.resultOf("plan") ?? { held: null }) as SnapshotPlan;
  if (held && job.hasBegun("hold")) await release(deps, held, operationOf(job.target));
  throw new AppError("unavailable", "The service stopped before the backup had finished");
}
