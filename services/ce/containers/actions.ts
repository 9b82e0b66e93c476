/**
 * Actions on containers: start, stop, restart, of one or of several.
 *
 * @module
 */

import { containerRestart, containerStart, containerStop } from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import type { Container, ContainerState, ExpectedDown } from "../../state/inventory.ts";
import type { Activity, Operation } from "../../state/reservations.ts";
import { hasStayedUp, type ReadDeps, refreshContainer, resolveContainer } from "./reads.ts";
import { reserveContainer } from "./reserve.ts";

/** What an action did. `changed` is false when the container was in the wanted state already. */
export interface ActionResult {
  ok: true;
  id: string;
  name: string;
  state: ContainerState;
  changed: boolean;
}

export const CONTAINER_ACTIONS = ["start", "stop", "restart"] as const;
export type ContainerAction = (typeof CONTAINER_ACTIONS)[number];

/** What an action is called while it is under way. */
export const ACTIVITIES: Record<ContainerAction, Activity> = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
};

export type ActionDeps = ReadDeps & Pick<Deps, "reservations">;

interface ActionOptions {
  /** What the action is a part of; actions of one operation do not exclude each other. */
  operation?: Operation | undefined;
}

interface StopOptions extends ActionOptions {
  /** Seconds until SIGKILL; default 10. */
  timeoutS?: number | undefined;
}

/** How long the engine waits before it kills, in seconds, where the caller does not say. */
export const STOP_TIMEOUT_S = 10;

/**
 * Starts a container.
 *
 * @throws {AppError} `not_found`; `conflict` while another action is under way, and with the
 * engine's sentence when it cannot start.
 */
export async function startContainer(
  deps: ActionDeps,
  ref: string,
  { operation }: ActionOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  using _ = reserveContainer(deps, container, ACTIVITIES.start, operation);
  const { changed } = await orCannotStart(containerStart(deps.engine, container.id));
  return await settled(deps, container, changed);
}

/**
 * Stops a container: its stop signal, then SIGKILL after `timeoutS`.
 *
 * @throws {AppError} `not_found`; `forbidden` for the service's own container; `conflict` while
 * another action is under way.
 */
export async function stopContainer(
  deps: ActionDeps,
  ref: string,
  { timeoutS = STOP_TIMEOUT_S, operation }: StopOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  assertNotSelf(container, "stopped");
  using _ = reserveContainer(deps, container, ACTIVITIES.stop, operation);
  return await takingDown(deps, container, async (expected) => {
    const { changed } = await containerStop(deps.engine, container.id, { timeoutS });
    if (!changed) expected.withdraw();
    return await settled(deps, container, changed);
  });
}

/**
 * Stops a container, as `stopContainer()` does, and starts it.
 *
 * @throws {AppError} As `startContainer()` and `stopContainer()`.
 */
export async function restartContainer(
  deps: ActionDeps,
  ref: string,
  { timeoutS = STOP_TIMEOUT_S, operation }: StopOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  assertNotSelf(container, "restarted");
  using _ = reserveContainer(deps, container, ACTIVITIES.restart, operation);
  // One that does not run only starts: if it ends soon after, that is its own doing.
  const goesDown = container.state === "running" || container.state === "paused";
  const restart = async () => {
    await orCannotStart(containerRestart(deps.engine, container.id, { timeoutS }));
    return await settled(deps, container, true);
  };
  return await (goesDown ? takingDown(deps, container, restart) : restart());
}

export function actOnContainer(
  deps: ActionDeps,
  ref: string,
  action: ContainerAction,
  options: ActionOptions = {},
): Promise<ActionResult> {
  switch (action) {
    case "start":
      return startContainer(deps, ref, options);
    case "stop":
      return stopContainer(deps, ref, options);
    case "restart":
      return restartContainer(deps, ref, options);
  }
}

/** The outcome for one container of several. */
export interface BulkResult {
  /** As it was given. */
  id: string;
  ok: boolean;
  state: ContainerState | null;
  error: string | null;
}

/** Acts on several containers at the same time; one that fails does not stop the others. */
export async function actOnContainers(
  deps: ActionDeps & Pick<Deps, "log">,
  refs: readonly string[],
  action: ContainerAction,
): Promise<{ results: BulkResult[]; succeeded: number; failed: number }> {
  const operation = Symbol();
  const results = await Promise.all(
    (await withoutDuplicates(deps, refs)).map(async (id): Promise<BulkResult> => {
      try {
        const { state } = await actOnContainer(deps, id, action, { operation });
        return { id, ok: true, state, error: null };
      } catch (error) {
        const known = asAppError(error);
        if (!known) deps.log.error("bulk action failed", { id, action, error: String(error) });
        const state = deps.inventory.get(id)?.state ?? null;
        return { id, ok: false, state, error: known?.message ?? "Internal error" };
      }
    }),
  );
  const succeeded = results.filter(({ ok }) => ok).length;
  return { results, succeeded, failed: results.length - succeeded };
}

/** @throws {AppError} `forbidden` for the container that this service runs in. */
export function assertNotSelf({ self, name }: Container, done: string): void {
  if (self) {
    throw new AppError("forbidden", `${name} is the service's own container and cannot be ${done}`);
  }
}

/**
 * Acts on a container so that its end is no event. Where the engine refuses, and the container has
 * stayed up, a later end is its own doing. Without an answer the engine may still be at it.
 */
async function takingDown<Result>(
  deps: ReadDeps,
  container: Container,
  act: (expected: ExpectedDown) => Promise<Result>,
): Promise<Result> {
  const expected = deps.inventory.expectDown(container.id);
  try {
    return await act(expected);
  } catch (error) {
    if (!(error instanceof EngineUnreachableError)) {
      const read = await refreshContainer(deps, container.id).catch(() => undefined);
      if (hasStayedUp(container, read?.now)) expected.withdraw();
    }
    throw error;
  } finally {
    expected.settle();
  }
}

/**
 * The engine has many statuses for a container that cannot start (a taken port, a program or a
 * mount that is missing): to the caller each is a conflict with the state of things.
 */
async function orCannotStart<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    if (!(error instanceof EngineError) || /^no such container/i.test(error.message)) throw error;
    throw new AppError("conflict", error.message, { cause: error });
  }
}

/** Ends an action: only when the snapshot has seen its result, so that the next read shows it. */
async function settled(
  deps: ReadDeps,
  container: Container,
  changed: boolean,
): Promise<ActionResult> {
  const { now } = await refreshContainer(deps, container.id);
  const { id, name } = container;
  // One that removes itself at its end is gone by now.
  return { ok: true, id, name, state: now?.state ?? "exited", changed };
}

/** The first of several names for the same container; unknown ones stay, to fail by themselves. */
async function withoutDuplicates(deps: ReadDeps, refs: readonly string[]): Promise<string[]> {
  const byContainer = new Map<string, string>();
  for (const ref of new Set(refs)) {
    const id = await resolveContainer(deps, ref).then((found) => found.id, (error) => {
      if (error instanceof EngineUnreachableError) throw error;
      return `unknown ${ref}`;
    });
    if (!byContainer.has(id)) byContainer.set(id, ref);
  }
  return [...byContainer.values()];
}
