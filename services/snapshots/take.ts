/** Makes a snapshot of a stack or of volumes. @module */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container } from "../containers/inventory.ts";
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
} from "./job.ts";
import { openTargetRepository } from "./repositories.ts";
import { type Stored, storeTree } from "./store.ts";
import { outputOf, runHook } from "./run_hooks.ts";
import { withoutValuesOf } from "./secret_values.ts";
import { tagsOf } from "./tags.ts";
import type { Dump } from "./tree.ts";

/** Longest run of a command after the files were read, in milliseconds. */
const POST_MS = 60_000;

/**
 * Stops or pauses what writes, reads, and lets it continue in any case, also while the service stops.
 *
 * @throws {AppError} If nothing was stored, or a container did not start again.
 */
export async function takeSnapshot(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  const { mode, affected } = job.input;
  const contents = await contentsOf(deps, job.input);
  const writers = writersOf(contents);
  if (writers.some(({ id }) => !affected.some((each) => each.id === id))) {
    throw new AppError("conflict", "Its containers have changed meanwhile; try again");
  }
  using opened = await openTargetRepository(deps, job.input.targetId, job.signal);
  const { held } = await job.step("plan", (): Promise<SnapshotPlan> =>
    Promise.resolve({
      held: mode === "stop" || mode === "pause" ? planHold(mode, writers) : null,
    }));
  const hooked = mode === "hooks" ? writers.filter(({ state }) => state === "running") : [];

  const operation = operationOf(job.target);
  const startedAt = performance.now();
  let stored: Stored;
  try {
    if (held) await job.step("hold", () => hold(deps, held, operation));
    stored = await withHooks(deps, hooked, job.signal, (dumps) =>
      job.step("read", async () => {
        const { stack, parts } = contents;
        const description = stack === null ? null : await describeStack(deps, contents, stack);
        return await withoutValuesOf(deps.engine, contents.containers, () =>
          storeTree(deps, opened.repository, { parts, dumps, description }, {
            tags: tagsOf(job.input),
            images: contents.containers.map(({ imageId }) =>
              imageId
            ),
            job,
          }));
      }));
  } finally {
    if (held) await job.step("release", () => release(deps, held, operation));
  }
  return {
    ...stored,
    target: opened.target.name,
    mode,
    downtimeMs: held ? Math.round(performance.now() - startedAt) : 0,
    leftOut: contents.leftOut,
  };
}

function contentsOf(deps: Deps, { stack, volumes }: SnapshotInput): Promise<Contents> {
  return stack === null ? contentsOfVolumes(deps, volumes ?? []) : contentsOfStack(deps, stack);
}

/** Runs `work` between the commands of hooks, which gets the dumps to store. */
async function withHooks<Result>(
  { engine, log }: Pick<Deps, "engine" | "log">,
  containers: readonly Container[],
  signal: AbortSignal,
  work: (dumps: Dump[]) => Promise<Result>,
): Promise<Result> {
  const hooked = containers.flatMap((container) => {
    const hooks = hooksOf(container);
    return hooks ? [{ container, hooks }] : [];
  });
  const begun: typeof hooked = [];
  try {
    for (const each of hooked) {
      begun.push(each);
      if (each.hooks.pre) await runHook(engine, each.container, each.hooks.pre, signal);
    }
    return await work(hooked.flatMap(({ container, hooks: { dump } }) =>
      dump
        ? [{
          path: `${container.name}/${dump.file}`,
          content: outputOf(engine, container, dump.command, signal),
        }]
        : []
    ));
  } finally {
    for (const { container, hooks } of begun) {
      if (!hooks.post) continue;
      await runHook(engine, container, hooks.post, AbortSignal.timeout(POST_MS)).catch((error) =>
        log.warn("backup command failed", { container: container.name, error: String(error) })
      );
    }
  }
}

/** A backup that a stop of the service interrupted; what was stored is reused by the next one. */
export async function releaseInterrupted(deps: Deps, job: SnapshotJob): Promise<never> {
  const plan = job.resultOf("plan") as SnapshotPlan | undefined;
  if (plan?.held && job.hasBegun("hold")) {
    await release(deps, plan.held, operationOf(job.target));
  }
  throw new AppError("unavailable", "The service stopped before the backup had finished");
}
