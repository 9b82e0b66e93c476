/** Makes a snapshot of a stack or of volumes. @module */

import { EngineUnreachableError } from "../../engine/errors.ts";
import { openTargetRepository } from "../backup/targets/open.ts";
import { whenUnlocked } from "../backup/trees/lock_wait.ts";
import { type Stored, storeTree } from "../backup/trees/store.ts";
import { tagsOf } from "../backup/trees/tags.ts";
import type { Dump } from "../backup/trees/tree.ts";
import { imagesToSave } from "./saved_images.ts";
import { withoutValuesOf } from "../backup/volumes/secret_values.ts";
import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { JobEnd } from "../jobs/kind.ts";
import { throwIfInterrupted } from "../updates/run/interruption.ts";
import type { Container } from "../containers/inventory.ts";
import { forgetPolicy, recordLeftStopped } from "../containers/left_stopped.ts";
import {
  type Contents,
  contentsOfStack,
  contentsOfVolumes,
  stoppedFor,
  writersOf,
} from "./contents.ts";
import { describedFiles, describeStack } from "./description.ts";
import { type Held, hold, keepDown, planFirmHold, planHold, release } from "./hold.ts";
import type { Hooks } from "./hooks.ts";
import { withImageLabels } from "./labels.ts";
import { ownHooksOf } from "./modes.ts";
import {
  operationOf,
  type SnapshotInput,
  type SnapshotJob,
  type SnapshotPlan,
  type SnapshotResult,
} from "./job.ts";
import { outputOf, runHook } from "./run_hooks.ts";

/** Longest run of a command after the files were read, in milliseconds. */
const POST_MS = 60_000;

/**
 * Stops or pauses what writes, reads, and lets it continue in any case, also while the service stops.
 *
 * @throws {AppError} If nothing was stored, or a container did not start again.
 */
export async function takeSnapshot(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  const { mode, affected, withImages = false, keepStopped = false } = job.input;
  const contents = await contentsOf(deps, job.input);
  const writers = keepStopped ? stoppedFor(contents) : writersOf(contents);
  if (writers.some(({ id }) => !affected.some((each) => each.id === id))) {
    throw new AppError("conflict", "Its containers have changed meanwhile; try again");
  }
  using opened = await openTargetRepository(deps, job.input.targetId, job.signal);
  const isHeld = mode === "stop" || mode === "pause";
  const found = mode === "hooks" ? await hookedOf(deps, writers) : [];
  const unable = await withoutProgram(deps, found, job);
  const hooked = found.map((each) =>
    unable.includes(each) ? { ...each, hooks: { ...each.hooks, dumps: [] } } : each
  );
  const { held } = await job.step("plan", (): Promise<SnapshotPlan> =>
    Promise.resolve({
      held: keepStopped
        ? planFirmHold(writers)
        : isHeld
        ? planHold(mode, writers)
        : unable.length > 0
        ? planHold("pause", unable.map(({ container }) => container))
        : null,
      hooked: hooked.map(({ container: { id, name }, hooks: { post = null } }) => ({
        id,
        name,
        post,
      })),
      leftOut: contents.leftOut,
    }));
  await whenUnlocked(opened.repository, job);
  let heldAt = 0;
  const holdAll = async (held: Held) => {
    heldAt = performance.now();
    await job.step("hold", async () => {
      if (keepStopped) await leaveStopped(deps, held);
      await hold(deps, held, operationOf("backup.snapshot", job.target));
    });
  };
  let continuedAt: number | undefined;
  const letAllContinue = async () => {
    if (continuedAt !== undefined) return;
    await letContinue(deps, job);
    continuedAt = performance.now();
  };
  try {
    await prepare(deps, hooked, job.signal);
    const isPausedLater = unable.length > 0;
    if (held && !isPausedLater) await holdAll(held);
    await job.step("read", async () => {
      const { stack, parts, containers } = contents;
      const dumps = dumpsOf(deps, hooked, job.signal);
      const described = stack === null ? null : {
        path: `/stacks/${stack}`,
        entries: describedFiles(await describeStack(deps, contents, stack), deps.now()),
      };
      const tree = {
        parts,
        dumps,
        described,
        // A paused container may hold a lock that a dump of another one waits for.
        ...(held && isPausedLater && { onDumpsRead: () => holdAll(held) }),
        // Images do not change, and take long.
        ...(withImages && {
          ...(!keepStopped && { onPartsRead: letAllContinue }),
          images: imagesToSave(deps.engine, containers, job.signal),
        }),
      };
      const tags = tagsOf(job.input);
      const { size, sqlite = [] } = job.input;
      const images = containers.map(({ imageId }) => imageId);
      return await withoutValuesOf(
        deps.engine,
        containers,
        () => storeTree(deps, opened.repository, tree, { tags, images, job, size, sqlite }),
      );
    });
  } finally {
    if (!staysStopped(job)) await letAllContinue();
  }
  const hasStopped = (held?.containers.length ?? 0) > 0;
  return resultOf(job, hasStopped ? Math.round((continuedAt ?? performance.now()) - heldAt) : 0);
}

/** A backup that was interrupted. What was stored of an incomplete one is reused by the next. */
export async function recoverSnapshot(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  if (!staysStopped(job)) await letContinue(deps, job);
  if (job.resultOf("read") !== undefined) return resultOf(job, 0);
  throw new AppError("unavailable", "The backup was interrupted; its containers run as before");
}

/** Records the restart policies before they change, so that no crash loses them. */
async function leaveStopped(deps: Deps, held: Held): Promise<void> {
  for (const { id, policy } of held.policies ?? []) recordLeftStopped(deps.db, id, policy);
  await keepDown(deps, held);
}

/** Only a stack that was stored. */
const staysStopped = ({ input: { keepStopped = false }, resultOf }: SnapshotJob): boolean =>
  keepStopped && resultOf("read") !== undefined;

function resultOf({ input, resultOf }: SnapshotJob, downtimeMs: number): SnapshotResult {
  const { leftOut } = resultOf("plan") as SnapshotPlan;
  const stored = resultOf("read") as Stored;
  const { place: target, hasNewTarget, mode } = input;
  return { ...stored, target, ...hasNewTarget && { hasNewTarget }, mode, downtimeMs, leftOut };
}

/**
 * Starts what was stopped, and runs the commands that undo those of before; can be repeated.
 *
 * @throws {JobEnd} If a container did not start.
 */
async function letContinue(deps: Deps, job: SnapshotJob): Promise<void> {
  const plan = job.resultOf("plan") as SnapshotPlan | undefined;
  if (!plan) return;
  await letHeldContinue(deps, job, plan);
  for (const { id, name, post } of plan.hooked) {
    if (post === null) continue;
    await runHook(deps.engine, { id, name }, post, AbortSignal.timeout(POST_MS)).catch((error) =>
      deps.log.warn("backup command failed", { container: name, error: String(error) })
    );
  }
}

async function letHeldContinue(
  deps: Deps,
  job: SnapshotJob,
  { held }: SnapshotPlan,
): Promise<void> {
  if (!held || !job.hasBegun("hold")) return;
  try {
    await job.step("release", async () => {
      await release(deps, held, operationOf("backup.snapshot", job.target));
      for (const { id } of held.policies ?? []) forgetPolicy(deps.db, id);
    });
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    const reason = messageFor(deps.log, failure, "containers not released", { job: job.id });
    throw new JobEnd("needs_attention", `Containers did not start again: ${reason}`);
  }
}

function contentsOf(deps: Deps, { stack, volumes }: SnapshotInput): Promise<Contents> {
  return stack === null ? contentsOfVolumes(deps, volumes ?? []) : contentsOfStack(deps, stack);
}

interface Hooked {
  container: Container;
  hooks: Hooks;
}

async function hookedOf(
  deps: Pick<Deps, "engine">,
  containers: readonly Container[],
): Promise<Hooked[]> {
  const running = containers.filter(({ state }) => state === "running");
  return (await withImageLabels(deps, running)).flatMap((container) => {
    const hooks = ownHooksOf(container);
    return hooks ? [{ container, hooks }] : [];
  });
}

/** The containers that cannot dump their databases, e.g. because their image has no shell. */
async function withoutProgram(
  { engine }: Pick<Deps, "engine">,
  hooked: readonly Hooked[],
  { signal, log }: Pick<SnapshotJob, "log" | "signal">,
): Promise<Hooked[]> {
  const unable: Hooked[] = [];
  for (const each of hooked) {
    const { container, hooks: { program } } = each;
    if (program === undefined) continue;
    try {
      await runHook(engine, container, `command -v ${program}`, signal);
    } catch (error) {
      if (error instanceof EngineUnreachableError || signal.aborted) throw error;
      log(`${container.name} has no ${program}; it is paused instead`);
      unable.push(each);
    }
  }
  return unable;
}

async function prepare(
  { engine }: Pick<Deps, "engine">,
  hooked: readonly Hooked[],
  signal: AbortSignal,
): Promise<void> {
  for (const { container, hooks: { pre } } of hooked) {
    if (pre !== undefined) await runHook(engine, container, pre, signal);
  }
}

const dumpsOf = (
  { engine }: Pick<Deps, "engine">,
  hooked: readonly Hooked[],
  signal: AbortSignal,
): Dump[] =>
  hooked.flatMap(({ container, hooks: { dumps = [] } }) =>
    dumps.map(({ command, file, end }) => ({
      path: `${container.name}/${file}`,
      content: outputOf(engine, container, command, { signal, end }),
    }))
  );
