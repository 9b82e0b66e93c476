/**
 * Restores volumes and directories. What is there is kept as a snapshot before it is emptied, so that the
 * old bytes exist at every moment: if the containers do not work with what was restored, they get them
 * back. Every step can be repeated after an interruption.
 *
 * @module
 */

import { messageFor } from "../../errors.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import type { Deps } from "../../deps.ts";
import { currentContainers } from "../../containers/reads.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { verify } from "../../updates/run/verify.ts";
import { type Held, hold, planHold, release } from "../hold.ts";
import { operationOf } from "../job.ts";
import { openTargetRepository } from "../repositories.ts";
import { withoutValuesOf } from "../secret_values.ts";
import { storeTree } from "../store.ts";
import { keptTags } from "../tags.ts";
import type { RestoreJob, RestoreResult } from "./job.ts";
import { createVolumes, removeVolumes } from "./new_volumes.ts";
import { type Source, writeParts } from "./write.ts";

/** Seconds that a container without a health check must stay up. */
const STABLE_S = 10;

export async function restoreParts(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  const { targetId, to } = job.input;
  using opened = await openTargetRepository(deps, targetId, job.signal);
  return await (to === "new" ? restoreAsNew : replace)(deps, job, opened.repository);
}

async function restoreAsNew(
  deps: Deps,
  job: RestoreJob,
  repository: Repository,
): Promise<RestoreResult> {
  const { input: { parts, place, snapshot }, signal } = job;
  try {
    const written = await job.step("write", async () => {
      // Those of an attempt that was interrupted.
      await removeVolumes(deps, job);
      await createVolumes(deps, job);
      return await writeParts(deps, job, { repository, snapshot, empties: false, signal });
    });
    const restored = parts.map(({ to }) => to.mount.source);
    return { ...written, restored, kept: null, target: place, downtimeMs: 0, verdict: null };
  } catch (error) {
    await throwIfInterrupted(deps, error);
    await removeVolumes(deps, job);
    throw error;
  }
}

/** Replaces what is in volumes that containers use. */
async function replace(
  deps: Deps,
  job: RestoreJob,
  repository: Repository,
): Promise<RestoreResult> {
  const { input: { affected, files, parts, place, images, snapshot }, target, signal } = job;
  const operation = operationOf(target);
  const held = await job.step("plan", async (): Promise<Held> => {
    const ids = new Set(affected.map(({ id }) => id));
    return planHold("stop", (await currentContainers(deps)).filter(({ id }) => ids.has(id)));
  });
  const startedAt = performance.now();
  let kept: string | undefined;
  try {
    await job.step("hold", () => hold(deps, held, operation));
    kept = await job.step("keep", async () => {
      const tree = { parts: parts.map(({ to }) => to), dumps: [], description: null };
      const { snapshot } = await withoutValuesOf(
        deps.engine,
        affected,
        () => storeTree(deps, repository, tree, { tags: keptTags(target), images, job }),
      );
      return snapshot;
    });
    const source = { repository, snapshot, empties: files === null, signal };
    const written = await job.step(
      "write",
      () => withoutValuesOf(deps.engine, affected, () => writeParts(deps, job, source)),
    );
    await job.step("release", () => release(deps, held, operation));
    const downtimeMs = Math.round(performance.now() - startedAt);
    const verdict = await job.step("verify", () => verifyHeld(deps, job, held));
    const restored = parts.map(({ to }) => to.mount.source);
    return { ...written, restored, kept, target: place, downtimeMs, verdict };
  } catch (error) {
    await throwIfInterrupted(deps, error);
    const reason = messageFor(deps.log, error, "restore failed", { job: job.id });
    if (!job.hasBegun("write")) {
      await job.step("start again", () => release(deps, held, operation));
      throw new JobEnd("rolled_back", reason, { kept, target: place });
    }
    // A cancelled job has to put back what was there, too.
    const back = { repository, snapshot: kept!, empties: true, signal: deps.jobs.stopping };
    await putBack(deps, job, { held, source: back, reason });
    throw new JobEnd("rolled_back", reason, { kept, target: place });
  }
}

/** The containers get the bytes that were kept, and start with them. */
async function putBack(
  deps: Deps,
  job: RestoreJob,
  { held, source, reason }: { held: Held; source: Source; reason: string },
): Promise<void> {
  const operation = operationOf(job.target);
  const { snapshot } = source;
  try {
    await job.step("stop again", () => hold(deps, held, operation));
    const parts = job.input.parts.map(({ to }) => ({ from: to.path.slice(1), to }));
    const whole = { ...job, input: { ...job.input, files: null, parts } };
    await job.step(
      "put back",
      () => withoutValuesOf(deps.engine, job.input.affected, () => writeParts(deps, whole, source)),
    );
    await job.step("start again", () => release(deps, held, operation));
  } catch (error) {
    await throwIfInterrupted(deps, error);
    const message = messageFor(deps.log, error, "put back failed", { job: job.id });
    throw new JobEnd(
      "needs_attention",
      `${reason}; putting back what was there failed: ${message}. It is in snapshot ${snapshot}`,
      { kept: snapshot, target: job.input.place },
    );
  }
}

/** @returns Why the containers count as well; `null` if none ran. */
async function verifyHeld(
  deps: Deps,
  { input: { stableSeconds }, signal, progress }: RestoreJob,
  { containers }: Held,
): Promise<string | null> {
  if (containers.length === 0) return null;
  const subjects = containers.map(({ id, name }) => ({ name, newId: id, ran: true, ports: [] }));
  return await verify(deps, subjects, {
    watched: [],
    stableSeconds: stableSeconds ?? undefined,
    defaultStableSeconds: STABLE_S,
    signal,
    onProgress: (message) => progress({ current: 0, total: null, message }),
  });
}
