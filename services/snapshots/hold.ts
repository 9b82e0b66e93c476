/** Stops or pauses the containers that write to volumes, and lets them continue afterwards. @module */

import type { RestartPolicy } from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { actOnContainer, startContainer } from "../containers/actions.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers, type ReadDeps } from "../containers/reads.ts";
import type { Operation } from "../containers/reservations.ts";
import { pauseContainer, unpauseContainer } from "../containers/signals.ts";
import { actOnStack } from "../stacks/actions.ts";
import { throwIfInterrupted } from "../updates/run/interruption.ts";
import { inspectIfThere, setRestartPolicy } from "../updates/run/members.ts";

/** The containers that a job holds; stored before the first one is stopped. */
export interface Held {
  mode: "stop" | "pause";
  /** Those that ran, so that stopped ones stay so. */
  containers: HeldContainer[];
  /** Restart policies that containers get back; missing if they keep theirs meanwhile. */
  policies?: { id: string; name: string; policy: RestartPolicy }[];
}

interface HeldContainer {
  id: string;
  name: string;
  stack: string | null;
}

/** @returns What {@linkcode hold} will do to these containers. */
export function planHold(mode: Held["mode"], writers: readonly Container[]): Held {
  const states = mode === "stop" ? ["running", "paused", "restarting"] : ["running"];
  return {
    mode,
    containers: writers.filter(({ state }) => states.includes(state))
      .map(({ id, name, composeProject }) => ({ id, name, stack: composeProject })),
  };
}

/**
 * As {@linkcode planHold}, for containers that {@linkcode keepDown} is called for. Those without a restart
 * policy keep none: one that a move has left stopped gets its own when it is started.
 */
export const planFirmHold = (users: readonly Container[]): Held => ({
  ...planHold("stop", users),
  policies: users.flatMap(({ id, name, details: { restartPolicy } }) =>
    ["", "no"].includes(restartPolicy.name) ? [] : [{
      id,
      name,
      policy: {
        Name: restartPolicy.name,
        MaximumRetryCount: restartPolicy.maximumRetryCount,
      },
    }]
  ),
});

/**
 * Stops the containers, those that others depend on last, or pauses them. Those that do not exist or run
 * any more are left alone, so that this can be repeated.
 *
 * @throws {AppError} `conflict`, naming those that did not stop.
 * @throws {EngineUnreachableError}
 */
export async function hold(deps: Deps, held: Held, operation: Operation): Promise<void> {
  const { mode } = held;
  const present = await presentOf(deps, held, (state) => mode === "stop" || state === "running");
  const failures = mode === "pause"
    ? await onEach(deps, present, (id) => pauseContainer(deps, id, { operation }))
    : await onAll(deps, present, "stop", operation);
  await assertNone(deps, failures);
}

/**
 * Lets the containers of {@linkcode hold} continue: started in the order of their dependencies, and those
 * whose dependencies do not get ready after the others. One that runs already, or that was removed
 * meanwhile, is left alone, so that this can be repeated.
 *
 * @throws {AppError} `conflict`, naming those that did not start.
 * @throws {EngineUnreachableError}
 */
export async function release(deps: Deps, held: Held, operation: Operation): Promise<void> {
  const { mode } = held;
  await restorePolicies(deps, held);
  const present = await presentOf(deps, held, (state) => mode === "stop" || state === "paused");
  if (mode === "pause") {
    return await assertNone(
      deps,
      await onEach(deps, present, (id) => unpauseContainer(deps, id, { operation })),
    );
  }
  if ((await onAll(deps, present, "start", operation)).length === 0) return;
  const start = (id: string) => startContainer(deps, id, { operation });
  await assertNone(deps, await onEach(deps, present, start));
}

/** Keeps an engine that is restarted from starting the containers, until they are released. */
export const keepDown = (deps: Deps, held: Held): Promise<void> =>
  setPolicies(deps, held, () => ({ Name: "no" }));

/** Gives containers that still exist their restart policies again. */
export const restorePolicies = (deps: Deps, held: Held): Promise<void> =>
  setPolicies(deps, held, (policy) => policy);

async function setPolicies(
  deps: Deps,
  { policies = [] }: Held,
  policyOf: (policy: RestartPolicy) => RestartPolicy,
): Promise<void> {
  const failures = await onEach(deps, policies, async (id) => {
    const { policy } = policies.find((each) => each.id === id)!;
    const container = await inspectIfThere(deps.engine, id);
    if (container) await setRestartPolicy(deps.engine, container, policyOf(policy));
  });
  await assertNone(deps, failures);
}

async function presentOf(
  deps: ReadDeps,
  { containers }: Held,
  isChosen: (state: Container["state"]) => boolean,
): Promise<HeldContainer[]> {
  const states = new Map((await currentContainers(deps)).map(({ id, state }) => [id, state]));
  return containers.filter(({ id }) => states.has(id) && isChosen(states.get(id)!));
}

/** @returns What failed; a failure does not stop the others. */
async function onAll(
  deps: Deps,
  containers: readonly HeldContainer[],
  action: "start" | "stop",
  operation: Operation,
): Promise<string[]> {
  const alone = containers.filter(({ stack }) => stack === null);
  const act = (id: string) => actOnContainer(deps, id, action, { operation });
  const failures = await onEach(deps, alone, act);
  for (const stack of new Set(containers.flatMap(({ stack }) => stack ?? []))) {
    const { results } = await actOnStack(deps, stack, action, {
      kind: "compose",
      only: new Set(containers.map(({ id }) => id)),
      operation,
    });
    failures.push(...results.filter(({ ok }) => !ok).map(({ name, error }) => `${name}: ${error}`));
  }
  return failures;
}

/**
 * @returns What failed; a failure does not stop the others.
 * @throws {EngineUnreachableError} If the engine was away, also if it is back: the job continues later.
 */
async function onEach(
  deps: Deps,
  containers: readonly Omit<HeldContainer, "stack">[],
  act: (id: string) => Promise<unknown>,
): Promise<string[]> {
  const ends = await Promise.allSettled(containers.map(({ id }) => act(id)));
  const failures: string[] = [];
  for (const [at, end] of ends.entries()) {
    if (end.status === "fulfilled") continue;
    const { name } = containers[at]!;
    // One loss of the connection breaks all calls, and the first of them ends the work.
    const failure = await throwIfInterrupted(deps, end.reason);
    const message = messageFor(deps.log, failure, "container not held or released", { name });
    failures.push(`${name}: ${message}`);
  }
  return failures;
}

/** An engine that is away is why they failed: then the job continues later. */
async function assertNone(deps: Deps, failures: readonly string[]): Promise<void> {
  if (failures.length === 0) return;
  throw await throwIfInterrupted(deps, new AppError("conflict", failures.join("; ")));
}
