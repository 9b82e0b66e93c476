/** Pauses, resumes and kills containers. @module */

import { containerKill, containerPause, containerUnpause } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { AppError } from "../errors.ts";
import type { Container, ContainerState } from "./inventory.ts";
import {
  type ActionDeps,
  type ActionOptions,
  type ActionResult,
  readResult,
  withExpectedDown,
} from "./actions.ts";
import { assertNotOwn } from "./own_container.ts";
import { currentContainers, refreshContainer, resolveContainer } from "./reads.ts";
import { reserveContainer } from "./reserve.ts";

/**
 * Suspends all processes of a running container.
 *
 * @throws {AppError} `not_found`; `conflict` for the service's own container, for one that is not
 * running, and while another action is in progress.
 */
export async function pauseContainer(
  deps: ActionDeps,
  ref: string,
  { operation }: ActionOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  assertNotOwn(container, "paused", await currentContainers(deps));
  using _ = reserveContainer(deps, container, "paused", operation);
  const changed = await changeState(deps, container, containerPause, {
    to: "paused",
    from: "running",
  });
  return await readResult(deps, container, changed);
}

/**
 * Resumes a paused container.
 *
 * @throws {AppError} `not_found`; `conflict` for a container that is not up, and while another
 * action is in progress.
 */
export async function unpauseContainer(
  deps: ActionDeps,
  ref: string,
  { operation }: ActionOptions = {},
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  using _ = reserveContainer(deps, container, "resumed", operation);
  const changed = await changeState(deps, container, containerUnpause, {
    to: "running",
    from: "paused",
  });
  return await readResult(deps, container, changed);
}

/**
 * Sends a signal to the first process of a container. Its end within a few seconds is not an event.
 *
 * @param signal Name or number, e.g. `SIGHUP`.
 * @throws {AppError} `not_found`; `invalid` for a signal that the engine does not know; `conflict`
 * for the service's own container, for one that is not up, and while another action is in progress.
 */
export async function killContainer(
  deps: ActionDeps,
  ref: string,
  signal: string,
): Promise<ActionResult> {
  const container = await resolveContainer(deps, ref);
  assertNotOwn(container, "killed", await currentContainers(deps));
  using _ = reserveContainer(deps, container, "killed");
  return await withExpectedDown(deps, container, async () => {
    try {
      await containerKill(deps.engine, container.id, { name: signal });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.status === 409) throw await stateConflict(deps, container, "running", error);
      if (error.status !== 400) throw error;
      throw new AppError("invalid", `body.signal: unknown signal ${signal}`, { cause: error });
    }
    return await readResult(deps, container, true);
  });
}

/** @returns Whether the state changed; `false` if the container was already in the state `to`. */
async function changeState(
  deps: ActionDeps,
  container: Container,
  change: (engine: ActionDeps["engine"], id: string) => Promise<void>,
  { to, from }: { to: ContainerState; from: ContainerState },
): Promise<boolean> {
  try {
    await change(deps.engine, container.id);
    return true;
  } catch (error) {
    if (!(error instanceof EngineError) || error.status !== 409) throw error;
    const { now } = await refreshContainer(deps, container.id);
    if (now?.state === to) return false;
    throw await stateConflict(deps, container, from, error);
  }
}

/** Says which state the container has, in place of the engine's message with its id. */
async function stateConflict(
  deps: ActionDeps,
  { id, name }: Container,
  needed: ContainerState,
  cause: EngineError,
): Promise<AppError> {
  const { now } = await refreshContainer(deps, id);
  const message = now === undefined || now.state === needed
    ? cause.message
    : `Container ${name} is ${now.state}, not ${needed}`;
  return new AppError("conflict", message, { cause });
}
