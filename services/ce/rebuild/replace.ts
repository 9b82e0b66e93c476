/**
 * Puts a new container in the place of an old one, so that any failure leaves the old one as it
 * was.
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
import { EngineError, ifThere } from "../../../engine/errors.ts";
import { networkConnect, networkDisconnect } from "../../../engine/networks.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type Recreation, recreation } from "./recreate.ts";
import { markedName } from "./marks.ts";

type ReplaceDeps = Pick<Deps, "engine" | "log">;

/** How long the engine may take to remove a container that removes itself, in milliseconds. */
const REMOVAL_WAIT_MS = 60_000;
const REMOVAL_POLL_MS = 50;

/** Tries to remove the old container: its file systems may be busy for a moment. */
const REMOVAL_TRIES = 5;
const REMOVAL_PAUSE_MS = 500;

/** A new container on its way to the place of an old one. */
export interface Replacement {
  old: ContainerInspect;
  name: string;
  newId: string;
  /** Whether the old one ran, so that the new one is to run. */
  ran: boolean;
  /** Whether the old one was, or may have been, stopped. */
  isStopped: boolean;
  /** Whether the old one was, or may have been, renamed. */
  isAside: boolean;
  /** Whether the new one has the name. */
  hasName: boolean;
}

/**
 * Creates a container as planned, stops the old one, gives its name to the new one, starts that
 * where the old one ran, and removes the old one, but none of its volumes.
 *
 * @param old As the engine describes it now.
 * @returns The new container's id.
 * @throws {AppError} `not_found` when the image is gone; `conflict` with the engine's sentence for
 * every other failure. The old container is then under its name and runs if it ran; one that
 * removes itself when it stops was created again, with another id.
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
 * Creates the new container under a name of its own. The old one is not touched.
 *
 * @throws {AppError} As `replaceContainer()`; nothing is left then.
 */
export async function prepareReplacement(
  { engine, log }: ReplaceDeps,
  old: ContainerInspect,
  plan: Recreation,
): Promise<Replacement> {
  const name = nameOf(old);
  const ran = isUp(old);
  const newName = markedName({ name, role: "new", ran, oldId: old.Id });
  try {
    await removeLeftover(engine, newName);
    const newId = await createFrom(engine, newName, plan);
    return { old, name, newId, ran, isStopped: false, isAside: false, hasName: false };
  } catch (error) {
    const trouble = createTrouble(log, name);
    await trouble.attempt(
      "the new container could not be removed",
      () => removeLeftover(engine, newName),
    );
    throw failure(error, `Container ${name} could not be created`, trouble.sentences);
  }
}

/**
 * Stops the old container, gives its name to the new one and starts that where the old one ran.
 *
 * @throws {AppError} As `replaceContainer()`; the old container is then as it was.
 */
export async function swapIn(deps: ReplaceDeps, replacement: Replacement): Promise<void> {
  const { name } = replacement;
  const step = { name: "replaced" };
  try {
    await putInPlace(deps.engine, replacement, step);
  } catch (error) {
    const trouble = await goBack(deps, replacement);
    throw failure(error, `Container ${name} could not be ${step.name}`, trouble);
  }
}

/**
 * Does what `swapIn()` does, from where it is now and without going back on a failure: for
 * containers whose old one cannot run any more.
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
  if (!replacement.isAside && !removesItself(old)) {
    replacement.isAside = true;
    await containerRename(engine, old.Id, {
      name: markedName({ name, role: "old", ran, oldId: old.Id }),
    });
  }
  if (!replacement.hasName) await containerRename(engine, newId, { name });
  replacement.hasName = true;
  step.name = "started";
  if (ran) await containerStart(engine, newId);
}

/** Takes back what `prepareReplacement()` did. @returns What did not work, as sentences. */
export async function discardReplacement(
  { engine, log }: ReplaceDeps,
  { name, newId }: Replacement,
): Promise<string[]> {
  const trouble = createTrouble(log, name);
  await trouble.attempt(
    "the new container could not be removed",
    () => removeForGood(engine, newId),
  );
  return trouble.sentences;
}

/** @returns What did not work, as sentences. */
async function goBack(deps: ReplaceDeps, replacement: Replacement): Promise<string[]> {
  const { engine, log } = deps;
  const { old, name, isStopped, isAside } = replacement;
  const { attempt, sentences } = createTrouble(log, name);

  // First of all, so that name, ports and addresses are free again.
  sentences.push(...await discardReplacement(deps, replacement));

  if (isStopped && removesItself(old) && await isGone(engine, old.Id)) {
    await attempt("the old container could not be created again", async () => {
      const id = await createFrom(engine, name, recreation(old, { reference: old.Image }));
      await containerStart(engine, id);
    });
    return sentences;
  }
  if (isAside) {
    await attempt("the old container could not get its name back", async () => {
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
  return sentences;
}

/** Runs the steps of a rollback; one that fails is logged and does not stop the others. */
function createTrouble(log: Deps["log"], container: string) {
  const sentences: string[] = [];
  return {
    sentences,
    async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
      try {
        await work();
      } catch (error) {
        sentences.push(`${what}: ${error instanceof Error ? error.message : error}`);
        log.error("rollback failed", { container, step: what, error: `${error}` });
      }
    },
  };
}

/** Creates a container, in all of its networks; what fails halfway leaves nothing. */
async function createFrom(
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

/** Removes a container that may run, or may be removing itself since its start failed. */
async function removeForGood(engine: Engine, id: string): Promise<void> {
  try {
    await ifThere(containerRemove(engine, id, { force: true }));
  } catch (error) {
    if (!(error instanceof EngineError && error.status === 409)) throw error;
  }
  await untilGone(engine, id);
}

async function untilGone(engine: Engine, id: string): Promise<void> {
  for (const until = performance.now() + REMOVAL_WAIT_MS; performance.now() < until;) {
    if (await isGone(engine, id)) return;
    await pause(REMOVAL_POLL_MS);
  }
  throw new AppError("conflict", `Container ${id.slice(0, 12)} should be gone, but is not`);
}

/**
 * Removes the old container. A failure does not fail the rebuild: the new container runs already.
 *
 * @returns Whether it is gone.
 */
export async function removeOld(
  { engine, log }: ReplaceDeps,
  { old, name }: Replacement,
): Promise<boolean> {
  if (removesItself(old)) return true;
  for (let left = REMOVAL_TRIES;; left--) {
    try {
      await ifThere(containerRemove(engine, old.Id));
      return true;
    } catch (error) {
      if (left > 1) {
        await pause(REMOVAL_PAUSE_MS);
        continue;
      }
      log.warn("old container of a rebuild could not be removed", {
        container: name,
        id: old.Id,
        error: `${error}`,
      });
      return false;
    }
  }
}

/** Removes what an earlier try left under this name, provided that it never ran. */
async function removeLeftover(engine: Engine, name: string): Promise<void> {
  const leftover = await ifThere(containerInspect(engine, name));
  if (leftover?.State.Status === "created") {
    await ifThere(containerRemove(engine, leftover.Id));
  }
}

/** Name without the engine's slash. */
export const nameOf = ({ Name }: ContainerInspect) => Name.replace(/^\//, "");

/** Whether it runs, or is about to be started again by the engine. */
export const isUp = ({ State }: ContainerInspect) => State.Running || State.Restarting;

/** Whether the engine removes it as soon as it stops. */
const removesItself = (old: ContainerInspect) => isUp(old) && (old.HostConfig.AutoRemove ?? false);

async function isGone(engine: Engine, id: string): Promise<boolean> {
  return await ifThere(containerInspect(engine, id)) === undefined;
}

/** The engine's sentence for the caller, with what could not be undone. */
function failure(error: unknown, what: string, trouble: string[]): unknown {
  if (!(error instanceof EngineError || error instanceof AppError)) return error;
  if (
    error instanceof EngineError && error.status === 404 && /no such image/i.test(error.message)
  ) {
    return new AppError("not_found", error.message, { cause: error });
  }
  const message = [`${what}: ${error.message}`, ...trouble].join("; ");
  return new AppError("conflict", message, { cause: error });
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
