/** Stores the sources of stacks that other programs have deployed. No container is touched. @module */

import { selectCurrentVersion } from "../../db/stack_versions.ts";
import type { Deps } from "../deps.ts";
import { AppError, asAppError } from "../errors.ts";
import { unitText } from "../containers/units.ts";
import { currentContainers, resolveContainer } from "../containers/reads.ts";
import { storeNewStack } from "../compose/sources.ts";
import type { StoredSources } from "../compose/validate.ts";
import type { JobRun } from "../jobs/kind.ts";
import { candidatesOf, type ChosenSource } from "./candidates.ts";
import { evaluate, type Evaluated, evaluateGenerated, type ForeignStack } from "./evaluate.ts";
import type { ChosenStack, TakeoverInput, TakeoverResult } from "./request.ts";
import type { TakeoverPlan } from "./report.ts";
import { readCandidates } from "./reading.ts";
import { foreignStacks, unitOfStack } from "./scan.ts";

/**
 * Reads, plans and stores the stacks of a job again, because files and containers may have changed since
 * the scan. A stack that is refused does not stop the others.
 */
export async function takeStacks(
  deps: Deps,
  { input, signal, progress, step }: JobRun<TakeoverInput>,
): Promise<TakeoverResult> {
  return await step("store", async () => {
    const result: TakeoverResult = { taken: [], refused: [] };
    for (const [current, stack] of input.stacks.entries()) {
      const { name } = stack;
      signal.throwIfAborted();
      progress({ current, total: input.stacks.length, message: name });
      try {
        await takeStack(deps, stack, input);
        result.taken.push(name);
      } catch (error) {
        const known = asAppError(error);
        if (!known || known.code === "unavailable") throw error;
        result.refused.push({ name, reason: known.message });
      }
    }
    return result;
  });
}

async function takeStack(
  deps: Deps,
  stack: ChosenStack,
  { userId, acceptRecreate }: TakeoverInput,
): Promise<void> {
  const { name } = stack;
  const sources = await chooseSources(deps, stack, acceptRecreate);
  await storeNewStack(deps, { userId }, { name, kind: "compose", sources });
}

/**
 * The sources of a stack as they are now.
 *
 * @throws {AppError} As `findForeign()`; `conflict` for sources that cannot be deployed, and as
 * `assertAccepted()`.
 */
export async function chooseSources(
  deps: Deps,
  { name, chosen, container }: ChosenStack,
  acceptRecreate: boolean,
): Promise<StoredSources> {
  const stack = container === undefined
    ? await findForeign(deps, name)
    : await newStackOf(deps, name, container);
  const { sources, plan, error } = await evaluateChosen(deps, stack, chosen);
  if (!sources || !plan) {
    throw new AppError("conflict", error ?? "Its files were not found; choose a source");
  }
  assertAccepted(plan, acceptRecreate);
  return sources;
}

/** A stack of one container that is not in any. */
async function newStackOf(deps: Deps, name: string, id: string): Promise<ForeignStack> {
  const container = await resolveContainer(deps, id);
  return { name, containers: [container], origins: [] };
}

/** @throws {AppError} `conflict` for a plan that recreates containers, unless that is accepted. */
export function assertAccepted({ recreates }: TakeoverPlan, acceptRecreate: boolean): void {
  if (recreates.length === 0 || acceptRecreate) return;
  throw new AppError(
    "conflict",
    `A deploy would recreate ${recreates.join(", ")}; choose other sources or accept it`,
  );
}

/**
 * A stack that is not managed here.
 *
 * @throws {AppError} `not_found`; `conflict` for one that has sources, or that a unit of systemd owns.
 */
export async function findForeign(deps: Deps, name: string): Promise<ForeignStack> {
  if (selectCurrentVersion(deps.db, name)) {
    throw new AppError("conflict", `Stack ${name} already has sources`);
  }
  const stack = foreignStacks(await currentContainers(deps)).find((each) => each.name === name);
  if (!stack) throw new AppError("not_found", `Stack ${name} does not exist`);
  const unit = unitOfStack(stack);
  if (unit !== null) throw new AppError("conflict", unitText(name, unit));
  return stack;
}

/** The chosen source, or the best one. */
async function evaluateChosen(
  deps: Deps,
  stack: ForeignStack,
  chosen: ChosenSource | null,
): Promise<Evaluated> {
  if (chosen?.kind === "generated") return await evaluateGenerated(deps, stack);
  const containers = (await currentContainers(deps)).filter(({ self }) => !self);
  const candidates = candidatesOf(stack.origins, {
    containers,
    stackRoots: deps.config.stackRoots,
    chosen: chosen ?? undefined,
  });
  const evaluated = await evaluate(deps, stack, await readCandidates(deps, candidates));
  const usable = evaluated.filter(({ source }) => !chosen || source.kind === chosen.kind);
  return usable.find(({ plan }) => plan) ?? usable[0] ??
    { source: { kind: "host", path: null }, base: null, modifiedAt: 0, recovered: [] };
}
