/**
 * Rehearses an update: the new image runs on a copy of the data in a private network before anything is
 * stopped or changed. If it fails, the present image is tried in the same way: where that fails, too, it
 * is the rehearsal that does not suit the container, and nothing is known about the new image.
 *
 * @module
 */

import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { failedContainer } from "../run/container_error.ts";
import type { Evidence } from "../run/evidence.ts";
import { throwIfInterrupted } from "../run/interruption.ts";
import { messageOf } from "../run/job.ts";
import { assertHarmless } from "../trial/members.ts";
import { createTrialContainers, removeTrial, type TrialContainer } from "../trial/parts.ts";
import { evidenceOf, runTrial } from "../trial/run.ts";
import { copySources, fillFrom } from "./copies.ts";
import { type NewImages, planRehearsal, type RehearsalPlan } from "./plan.ts";

/** Criteria for the new containers, as for the update itself. */
export interface Criteria {
  stableSeconds: number | undefined;
  defaultStableSeconds: number;
  verifyTimeoutSeconds: number | undefined;
  logPattern?: string | undefined;
}

/** A new image that failed where the present one works. */
export class RehearsalError extends AppError {
  override readonly name = "RehearsalError";

  /**
   * @param reason E.g. `web exited with code 1`.
   * @param container Name of the one that failed, if it was one.
   */
  constructor(reason: string, readonly evidence: Evidence[], readonly container?: string | null) {
    super("conflict", `The rehearsal failed: ${reason}`);
  }
}

type TrialJob = Pick<JobRun, "id" | "signal" | "progress">;

/** Outcome of one run. */
type Outcome = { verdict: string } | {
  failure: string;
  /** Name of the container that failed, if it was one. */
  container: string | null;
  evidence: Evidence[];
};

/**
 * Rehearses the update of containers that exist.
 *
 * @param targets Names of the containers that are updated.
 * @returns Why the new containers count as well.
 * @throws {RehearsalError}
 * @throws {AppError} `conflict` for containers that cannot be tried out, and if nothing could be found
 * out.
 */
export async function rehearse(
  deps: Deps,
  job: TrialJob,
  { targets, images, criteria }: {
    targets: readonly string[];
    images: NewImages;
    criteria: Criteria;
  },
): Promise<string> {
  const tryWith = async (images: NewImages) =>
    await tryOut(deps, job, await planRehearsal(deps, targets, images), criteria);
  const outcome = await tryWith(images);
  if ("verdict" in outcome) return outcome.verdict;
  const present = await tryWith(new Map());
  const { failure, evidence, container } = outcome;
  if ("verdict" in present) throw new RehearsalError(failure, evidence, container);
  throw new AppError(
    "conflict",
    `The rehearsal says nothing: ${failure}, but with the present image ` +
      `${present.failure} in it as well; update without it`,
  );
}

/**
 * Runs copies of containers and removes them. Can be repeated after a crash: what an earlier attempt
 * has left is removed first.
 *
 * @param fill Copies further files into a container before it is started.
 * @throws {AppError} `conflict` for containers that cannot be tried out or copied.
 */
export async function tryOut(
  deps: Deps,
  job: TrialJob,
  { members, judged, copied }: Omit<RehearsalPlan, "containers" | "leftOut">,
  criteria: Criteria,
  fill: (container: TrialContainer) => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  const { id, signal } = job;
  await removeTrial(deps, id);
  try {
    if (judged.length === 0) return { verdict: "Nothing of it was running" };
    assertHarmless(members);
    const helpers = members.flatMap(({ recreation: { create } }) => create.Image ?? []);
    const originals = members.filter((member) => member.id !== "");
    const copies = await withoutValuesOf(
      deps.engine,
      originals,
      () => copySources(deps, job, copied, helpers),
    );
    const copyFiles = fillFrom(deps, copies, helpers, signal);
    const containers = await createTrialContainers(deps, id, members, {
      ...copies,
      signal,
      async fill(container) {
        await copyFiles(container);
        await fill(container);
      },
    });
    return await judge(deps, job, containers, { judged, criteria });
  } finally {
    await removeTrial(deps, id);
  }
}

async function judge(
  deps: Deps,
  { signal, progress }: TrialJob,
  containers: readonly TrialContainer[],
  { judged, criteria }: { judged: readonly string[]; criteria: Criteria },
): Promise<Outcome> {
  try {
    const verdict = await runTrial(deps, containers, {
      ...criteria,
      judged,
      signal,
      onProgress: (message) =>
        progress({ current: 0, total: null, message: `Rehearsal: ${message}` }),
    });
    return { verdict };
  } catch (error) {
    signal.throwIfAborted();
    const failure = await throwIfInterrupted(deps, error);
    return {
      failure: messageOf(deps, failure),
      container: failedContainer(failure),
      evidence: await evidenceOf(deps, containers),
    };
  }
}
