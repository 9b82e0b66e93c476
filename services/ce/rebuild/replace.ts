/**
 * Replaces a container with a new one, and rolls back on failure.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import {
  containerCreate,
  type ContainerInspect,
  containerInspect,
  containerRemove,
  containerRename,
  containerStart,
  containerStop,
} from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { networkConnect, networkDisconnect } from "../../../engine/networks.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../lifecycle.ts";
import { planRecreation, type Recreation } from "./recreate.ts";
import { markedName } from "./marks.ts";

type ReplaceDeps = Pick<Deps, "engine" | "log">;

/** How long the engine may take to remove a container that removes itself, in milliseconds. */
const REMOVAL_WAIT_MS = 60_000;
const REMOVAL_POLL_MS = 50;

/** Attempts to remove the old container, whose filesystems may be busy for a moment. */
const REMOVAL_TRIES = 5;
const REMOVAL_PAUSE_MS = 500;

/** A new container that replaces an old one. */
export interface Replacement {
  old: ContainerInspect;
  name: string;
  newId: string;
  /** Whether the old one was running, so that the new one will be started. */
  ran: boolean;
  /** Whether the old one may have been stopped. */
  isStopped: boolean;
  /** Whether the old one may have been renamed. */
  isRenamed: boolean;
  /** Whether the new one has the name. */
  hasName: boolean;
}

/**
 * Creates a container as planned, stops the old one, moves its name to the new one, starts the new
 * one if the old one was running, and removes the old one without its volumes.
 *
 * @param old The engine's current description.
 * @returns The new container's id.
 * @throws {AppError} `not_found` if the image does not exist; `conflict` with the engine's message
 * for every other failure. The old container is then restored, with a new id if it has automatic
 * removal.
 */
export async function replaceContainer(
  deps: ReplaceDeps,
  old: ContainerInspect,
  plan: Recreation,
): Promise<string> {
  const replacement = await prepareReplacement(deps, old, plan);
  await swapIn(deps, replacement);
  await removeOld(deps, replacement);
  return replacement.newId;
}

/**
 * Creates the new container under a temporary name. The old one is not changed.
 *
 * @param options.ran Whether the old one ran before an engine crash may have stopped it. It is part of
 * the temporary name, by which an earlier attempt is found and replaced.
 * @throws {AppError} As `replaceContainer()`; no new container is left then.
 */
export async function prepareReplacement(
  { engine, log }: ReplaceDeps,
  old: ContainerInspect,
  plan: Recreation,
  { ran = isUp(old) }: { ran?: boolean } = {},
): Promise<Replacement> {
  const name = nameOf(old);
  const newName = markedName({ name, role: "new", ran, oldId: old.Id });
  try {
    await removeLeftover(engine, newName);
    const newId = await createFrom(engine, newName, plan);
    return { old, name, newId, ran, isStopped: false, isRenamed: false, hasName: false };
  } catch (error) {
    const rollback = createRollback(log, name);
    await rollback.attempt(
      "the new container could not be removed",
      () => removeLeftover(engine, newName),
    );
    throw failure(error, `Container ${name} could not be created`, rollback.errors);
  }
}

/**
 * Stops the old container, moves its name to the new one, and starts the new one if the old one was
 * running.
 *
 * @throws {AppError} As `replaceContainer()`; the old container is then restored.
 */
export async function swapIn(deps: ReplaceDeps, replacement: Replacement): Promise<void> {
  const { name } = replacement;
  const step = { name: "replaced" };
  try {
    await putInPlace(deps.engine, replacement, step);
  } catch (error) {
    const rollbackErrors = await rollBack(deps, replacement);
    throw failure(error, `Container ${name} could not be ${step.name}`, rollbackErrors);
  }
}

/**
 * Like `swapIn()`, but continues from the current state and does not roll back, for containers whose
 * old one cannot run any more.
 *
 * @throws {EngineError}
 */
export async function putInPlace(
  engine: Engine,
  replacement: Replacement,
  step = { name: "replaced" },
): Promise<void> {
  const { old, name, newId, ran } = replacement;
  if (isUp(old)) {
    replacement.isStopped = true;
    await stop(engine, old);
  }
  if (!replacement.isRenamed && !removesItself(old)) {
    replacement.isRenamed = true;
    await containerRename(engine, old.Id, {
      name: markedName({ name, role: "old", ran, oldId: old.Id }),
    });
  }
  if (!replacement.hasName) await containerRename(engine, newId, { name });
  replacement.hasName = true;
  step.name = "started";
  if (ran) await containerStart(engine, newId);
}

/** Undoes `prepareReplacement()`. @returns Error messages. */
export async function discardReplacement(
  { engine, log }: ReplaceDeps,
  { name, newId }: Replacement,
): Promise<string[]> {
  const rollback = createRollback(log, name);
  await rollback.attempt(
    "the new container could not be removed",
    () => removeAndWait(engine, newId),
  );
  return rollback.errors;
}

/** Restores the old container. @returns Error messages. */
async function rollBack(deps: ReplaceDeps, replacement: Replacement): Promise<string[]> {
  const { engine, log } = deps;
  const { old, name, isStopped, isRenamed } = replacement;
  const { attempt, errors } = createRollback(log, name);

  // First, so that name, ports and addresses are available again.
  errors.push(...await discardReplacement(deps, replacement));

  if (isStopped && removesItself(old) && await isGone(engine, old.Id)) {
    await attempt("the old container could not be created again", async () => {
      const id = await createFrom(engine, name, planRecreation(old, { reference: old.Image }));
      await containerStart(engine, id);
    });
    return errors;
  }
  if (isRenamed) {
    await attempt("the old container could not be renamed back", async () => {
      const { Name } = await containerInspect(engine, old.Id);
      if (Name !== old.Name) await containerRename(engine, old.Id, { name });
    });
  }
  if (isStopped) {
    await attempt(
      "the old container could not be started again",
      () => containerStart(engine, old.Id),
    );
  }
  return errors;
}

/** Runs the steps of a rollback; a failure is logged and does not stop the others. */
function createRollback(log: Deps["log"], container: string) {
  const errors: string[] = [];
  return {
    errors,
    async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
      try {
        await work();
      } catch (error) {
        errors.push(`${what}: ${error instanceof Error ? error.message : error}`);
        log.error("rollback failed", { container, step: what, error: `${error}` });
      }
    },
  };
}

/** Creates a container and connects it to its networks; removes it again on failure. */
export async function createFrom(
  engine: Engine,
  name: string,
  { create, connect, disconnect }: Recreation,
): Promise<string> {
  const { id } = await containerCreate(engine, { name, body: create });
  try {
    for (const network of disconnect) {
      await ifThere(networkDisconnect(engine, network, { container: id, force: true }));
    }
    for (const { network, endpoint } of connect) {
      await networkConnect(engine, network, { container: id, endpoint });
    }
  } catch (error) {
    await ifThere(containerRemove(engine, id, { force: true })).catch(() => {});
    throw error;
  }
  return id;
}

async function stop(engine: Engine, old: ContainerInspect): Promise<void> {
  if (!removesItself(old)) return void await containerStop(engine, old.Id);
  await ifThere(containerStop(engine, old.Id));
  await untilGone(engine, old.Id);
}

/**
 * Removes a container that may be running, or may be removing itself because its start failed.
 *
 * @param options.volumes Also removes its anonymous volumes, unless another container has them.
 */
export async function removeAndWait(
  engine: Engine,
  id: string,
  { volumes }: { volumes?: boolean } = {},
): Promise<void> {
  try {
    await ifThere(containerRemove(engine, id, { force: true, volumes }));
  } catch (error) {
    if (!(error instanceof EngineError && error.status === 409)) throw error;
  }
  await untilGone(engine, id);
}

async function untilGone(engine: Engine, id: string): Promise<void> {
  for (const until = performance.now() + REMOVAL_WAIT_MS; performance.now() < until;) {
    if (await isGone(engine, id)) return;
    await sleep(REMOVAL_POLL_MS);
  }
  throw new AppError("conflict", `Timeout while removing container ${id.slice(0, 12)}`);
}

/**
 * Removes the old container. A failure does not fail the rebuild, because the new container is
 * already running.
 *
 * @returns Whether it was removed.
 */
export async function removeOld(
  { engine, log }: ReplaceDeps,
  { old, name }: Pick<Replacement, "old" | "name">,
): Promise<boolean> {
  if (removesItself(old)) return true;
  try {
    await removeStopped(engine, old.Id);
    return true;
  } catch (error) {
    log.warn("failed to remove old container", {
      container: name,
      id: old.Id,
      error: `${error}`,
    });
    return false;
  }
}

/** Removes a stopped container without its volumes. Its filesystems may be busy for a moment. */
export async function removeStopped(engine: Engine, id: string): Promise<void> {
  for (let left = REMOVAL_TRIES;; left--) {
    try {
      return void await ifThere(containerRemove(engine, id));
    } catch (error) {
      if (left <= 1 || error instanceof EngineUnreachableError) throw error;
      await sleep(REMOVAL_PAUSE_MS);
    }
  }
}

/** Removes a container of this name left by an earlier attempt, if it was never started. */
async function removeLeftover(engine: Engine, name: string): Promise<void> {
  const leftover = await ifThere(containerInspect(engine, name));
  if (leftover?.State.Status === "created") {
    await ifThere(containerRemove(engine, leftover.Id));
  }
}

/** The name without the engine's leading slash. */
export const nameOf = ({ Name }: ContainerInspect) => Name.replace(/^\//, "");

/** Whether it is running, or being restarted by the engine. */
export const isUp = ({ State }: ContainerInspect) => State.Running || State.Restarting;

/** Whether the engine will remove it when it stops. */
const removesItself = (old: ContainerInspect) => isUp(old) && (old.HostConfig.AutoRemove ?? false);

async function isGone(engine: Engine, id: string): Promise<boolean> {
  return await ifThere(containerInspect(engine, id)) === undefined;
}

/** The engine's message for the caller, with the errors of the rollback. */
function failure(error: unknown, what: string, rollbackErrors: string[]): unknown {
  if (!(error instanceof EngineError || error instanceof AppError)) return error;
  if (
    error instanceof EngineError && error.status === 404 && /no such image/i.test(error.message)
  ) {
    return new AppError("not_found", error.message, { cause: error });
  }
  const message = [`${what}: ${error.message}`, ...rollbackErrors].join("; ");
  return new AppError("conflict", message, { cause: error });
}
