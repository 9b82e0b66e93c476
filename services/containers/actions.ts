/** Starts, stops and restarts containers. @module */

import { containerRestart, containerStart, containerStop } from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError, RefusedCallError } from "../../engine/errors.ts";
import type { Caller } from "../access/caller.ts";
import { redactFailure, visibleTo } from "./visible.ts";
import type { Deps } from "../deps.ts";
import { AppError, asAppError } from "../errors.ts";
import type { Container, ContainerState, ExpectedDown } from "./inventory.ts";
import type { Activity, Operation } from "./reservations.ts";
import { startFailure } from "./lost_network.ts";
import { givePolicyBack } from "./left_stopped.ts";
import { hasStayedUp, isUp, type ReadDeps, refreshContainer, resolveContainer } from "./reads.ts";
import { reserveContainer } from "./reserve.ts";
import { withoutContainerValues } from "./secret_values.ts";

/** The result of an action. `changed` is false if the container was already in that state. */
export interface ActionResult {
  ok: true;
  id: string;
  name: string;
  state: ContainerState;
  changed: boolean;
}

export const CONTAINER_ACTIONS = ["start", "stop", "restart"] as const;
export type ContainerAction = (typeof CONTAINER_ACTIONS)[number];

/** The activity of each action, for messages about an action in progress. */
export const ACTIVITIES: Record<ContainerAction, Activity> = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
};

export type ActionDeps = ReadDeps & Pick<Deps, "db" | "reservations">;

export interface ActionOptions {
  /** The operation that the action belongs to; actions of one operation do not exclude each other. */
  operation?: Operation | undefined;
}

interface StopOptions extends ActionOptions {
  /** Seconds until SIGKILL; default 10. */
  timeoutS?: number | undefined;
}

/** Default time between the stop signal and SIGKILL, in seconds. */
export const STOP_TIMEOUT_S = 10;

/**
 * Starts a container.
 *
 * @throws {AppError} `not_found`; `conflict` while another action is in progress, and with the
 * engine's message if it cannot start.
 */
export async function startContainer(
  deps: ActionDeps,
  ref: string,
  { operation }: ActionOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  using _ = reserveContainer(deps, container, ACTIVITIES.start, operation);
  await givePolicyBack(deps, container.id);
  const { changed } = await startOrConflict(
    deps,
    container,
    containerStart(deps.engine, container.id),
  );
  return await readResult(deps, container, changed);
}

/**
 * Stops a container with its stop signal, then SIGKILL after `timeoutS`.
 *
 * @throws {AppError} `not_found`; `forbidden` for the service's own container; `conflict` while
 * another action is in progress.
 */
export async function stopContainer(
  deps: ActionDeps,
  ref: string,
  { timeoutS = STOP_TIMEOUT_S, operation }: StopOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  assertNotSelf(container, "stopped");
  using _ = reserveContainer(deps, container, ACTIVITIES.stop, operation);
  return await withExpectedDown(deps, container, async (expected) => {
    const { changed } = await containerStop(deps.engine, container.id, { timeoutS });
    if (!changed) expected.withdraw();
    return await readResult(deps, container, changed);
  });
}

/**
 * Stops a container as `stopContainer()` does, and starts it again.
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
  await givePolicyBack(deps, container.id);
  // A stopped container is only started: if it exits soon after, that is an event.
  const restart = async () => {
    const restarting = containerRestart(deps.engine, container.id, { timeoutS });
    await startOrConflict(deps, container, restarting);
    return await readResult(deps, container, true);
  };
  return await (isUp(container) ? withExpectedDown(deps, container, restart) : restart());
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

/** The result for one container of a bulk action. */
interface BulkResult {
  /** The reference from the request. */
  id: string;
  ok: boolean;
  state: ContainerState | null;
  error: string | null;
}

/**
 * Acts on several containers in parallel; a failure does not stop the others. Containers that the
 * caller may not see do not exist.
 */
export async function actOnContainers(
  deps: ActionDeps & Pick<Deps, "log">,
  refs: readonly string[],
  action: ContainerAction,
  caller: Pick<Caller, "scope">,
): Promise<{ results: BulkResult[]; succeeded: number; failed: number }> {
  const operation = Symbol();
  const visible = visibleTo(deps, caller);
  const results = await Promise.all(
    (await withoutDuplicates(visible, refs)).map(async (ref): Promise<BulkResult> => {
      try {
        const { id } = await resolveContainer(visible, ref);
        const { state } = await actOnContainer(deps, id, action, { operation });
        return { id: ref, ok: true, state, error: null };
      } catch (error) {
        const known = asAppError(error);
        if (!known) deps.log.error("bulk action failed", { ref, action, error: String(error) });
        const state = visible.inventory.get(ref)?.state ?? null;
        const message = known && redactFailure(deps, caller, known, ref).message;
        return { id: ref, ok: false, state, error: message ?? "Internal error" };
      }
    }),
  );
  const succeeded = results.filter(({ ok }) => ok).length;
  return { results, succeeded, failed: results.length - succeeded };
}

/** @throws {AppError} `forbidden` for the container that this service runs in. */
export function assertNotSelf({ self, name }: Container, action: string): void {
  if (!self) return;
  throw new AppError("forbidden", `${name} is the service's own container and cannot be ${action}`);
}

/**
 * Runs an action that takes a container down, without an event about it. If the engine refuses and
 * the container has stayed up, later exits are events again; without a response the engine may
 * still be stopping it.
 */
export async function withExpectedDown<Result>(
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
 * Turns the engine's various statuses for a container that cannot start (port in use, missing
 * program or mount) into a conflict.
 */
async function startOrConflict<T>(
  { engine }: Pick<Deps, "engine">,
  { id, attachments }: Container,
  starting: Promise<T>,
): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    if (!(error instanceof EngineError) || error instanceof RefusedCallError) throw error;
    if (/^no such container/i.test(error.message)) throw error;
    const message = startFailure(error.message, attachments);
    const refusal = new AppError("conflict", message, { cause: error });
    throw await withoutContainerValues(engine, id, refusal);
  }
}

/** Updates the snapshot, so that the next read shows the result of the action. */
export async function readResult(
  deps: ReadDeps,
  container: Container,
  changed: boolean,
): Promise<ActionResult> {
  const { now } = await refreshContainer(deps, container.id);
  const { id, name } = container;
  // A container with automatic removal no longer exists.
  return { ok: true, id, name, state: now?.state ?? "exited", changed };
}

/** Keeps the first of several references to a container; unknown ones stay and fail later. */
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
