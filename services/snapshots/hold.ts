/** Stops or pauses the containers that write to volumes, and lets them continue afterwards. @module */

import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { actOnContainer } from "../containers/actions.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers } from "../containers/reads.ts";
import type { Operation } from "../containers/reservations.ts";
import { pauseContainer, unpauseContainer } from "../containers/signals.ts";
import { actOnStack } from "../stacks/actions.ts";

/** The containers that a job holds; stored before the first one is stopped. */
export interface Held {
  mode: "stop" | "pause";
  /** Those that ran, so that stopped ones stay so. */
  containers: HeldContainer[];
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
 * Stops the containers, those that others depend on last, or pauses them.
 *
 * @throws {AppError} `conflict`, naming those that did not stop.
 */
export async function hold(deps: Deps, held: Held, operation: Operation): Promise<void> {
  assertNone(
    held.mode === "pause"
      ? await onEach(deps, held.containers, (id) => pauseContainer(deps, id, { operation }))
      : await onAll(deps, held.containers, "stop", operation),
  );
}

/**
 * Lets the containers of {@linkcode hold} continue: started in the order of their dependencies. One that
 * runs already, or that was removed meanwhile, is left alone, so that this can be repeated.
 *
 * @throws {AppError} `conflict`, naming those that did not start.
 */
export async function release(
  deps: Deps,
  { mode, containers }: Held,
  operation: Operation,
): Promise<void> {
  const states = new Map((await currentContainers(deps)).map(({ id, state }) => [id, state]));
  const isHeld = ({ id }: HeldContainer) =>
    mode === "pause" ? states.get(id) === "paused" : states.has(id);
  const present = containers.filter(isHeld);
  assertNone(
    mode === "pause"
      ? await onEach(deps, present, (id) => unpauseContainer(deps, id, { operation }))
      : await onAll(deps, present, "start", operation),
  );
}

/** @returns What failed; a failure does not stop the others. */
async function onAll(
  deps: Deps,
  containers: readonly HeldContainer[],
  action: "start" | "stop",
  operation: Operation,
): Promise<string[]> {
  const alone = containers.filter(({ stack }) => stack === null);
  const failures = await onEach(
    deps,
    alone,
    (id) => actOnContainer(deps, id, action, { operation }),
  );
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

async function onEach(
  { log }: Pick<Deps, "log">,
  containers: readonly HeldContainer[],
  act: (id: string) => Promise<unknown>,
): Promise<string[]> {
  const attempts = containers.map(async ({ id, name }) => {
    try {
      await act(id);
      return [];
    } catch (error) {
      return [`${name}: ${messageFor(log, error, "container not held or released", { name })}`];
    }
  });
  return (await Promise.all(attempts)).flat();
}

function assertNone(failures: readonly string[]): void {
  if (failures.length > 0) throw new AppError("conflict", failures.join("; "));
}
