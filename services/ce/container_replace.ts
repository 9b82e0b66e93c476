/**
 * Puts a new container in the place of an old one, so that any failure leaves the old one as it
 * was.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import {
  containerCreate,
  type ContainerInspect,
  containerInspect,
  containerRemove,
  containerRename,
  containerStart,
  containerStop,
} from "../../engine/containers.ts";
import { EngineError, ifThere } from "../../engine/errors.ts";
import { networkConnect, networkDisconnect } from "../../engine/networks.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { type Recreation, recreation } from "./container_recreate.ts";
import { markedName } from "./rebuild_marks.ts";

type ReplaceDeps = Pick<Deps, "engine" | "log">;

/** How long the engine may take to remove a container that removes itself, in milliseconds. */
const REMOVAL_WAIT_MS = 60_000;
const REMOVAL_POLL_MS = 50;

/** Tries to remove the old container: its file systems may be busy for a moment. */
const REMOVAL_TRIES = 5;
const REMOVAL_PAUSE_MS = 500;

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
  const name = nameOf(old);
  const mark = { name, ran: isUp(old), oldId: old.Id };
  const newName = markedName({ ...mark, role: "new" });
  const swap: Swap = { old, name, newName, newId: undefined, isStopped: false, isAside: false };
  let step = "created";
  try {
    await removeLeftover(deps.engine, newName);
    swap.newId = await createFrom(deps.engine, newName, plan);

    step = "replaced";
    if (mark.ran) {
      swap.isStopped = true;
      await stop(deps.engine, old);
    }
    if (!removesItself(old)) {
      swap.isAside = true;
      await containerRename(deps.engine, old.Id, { name: markedName({ ...mark, role: "old" }) });
    }
    await containerRename(deps.engine, swap.newId, { name });

    step = "started";
    if (mark.ran) await containerStart(deps.engine, swap.newId);
  } catch (error) {
    const trouble = await goBack(deps, swap);
    throw failure(error, `Container ${name} could not be ${step}`, trouble);
  }
  if (!removesItself(old)) await removeOld(deps, old);
  return swap.newId;
}

/** How far a replacement came. */
interface Swap {
  old: ContainerInspect;
  name: string;
  newName: string;
  newId: string | undefined;
  /** Whether the old one was, or may have been, stopped. */
  isStopped: boolean;
  /** Whether the old one was, or may have been, renamed. */
  isAside: boolean;
}

/** @returns What did not work, as sentences. */
async function goBack(deps: ReplaceDeps, swap: Swap): Promise<string[]> {
  const { engine } = deps;
  const { old, name } = swap;
  const trouble: string[] = [];
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      trouble.push(`${what}: ${error instanceof Error ? error.message : error}`);
      deps.log.error("rebuild could not go back", {
        container: name,
        step: what,
        error: `${error}`,
      });
    }
  };

  // First of all, so that name, ports and addresses are free again.
  await attempt(
    "the new container could not be removed",
    () =>
      swap.newId === undefined
        ? removeLeftover(engine, swap.newName)
        : removeForGood(engine, swap.newId),
  );

  if (swap.isStopped && removesItself(old) && await isGone(engine, old.Id)) {
    await attempt("the old container could not be created again", async () => {
      const id = await createFrom(engine, name, recreation(old, { reference: old.Image }));
      await containerStart(engine, id);
    });
    return trouble;
  }
  if (swap.isAside) {
    await attempt("the old container could not get its name back", async () => {
      const { Name } = await containerInspect(engine, old.Id);
      if (Name !== old.Name) await containerRename(engine, old.Id, { name });
    });
  }
  if (swap.isStopped) {
    await attempt(
      "the old container could not be started again",
      () => containerStart(engine, old.Id),
    );
  }
  return trouble;
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

/** A failure to remove it is no failure of the rebuild: the new container does its work already. */
async function removeOld({ engine, log }: ReplaceDeps, old: ContainerInspect): Promise<void> {
  for (let left = REMOVAL_TRIES;; left--) {
    try {
      return await ifThere(containerRemove(engine, old.Id));
    } catch (error) {
      if (left > 1) {
        await pause(REMOVAL_PAUSE_MS);
        continue;
      }
      log.warn("the old container of a rebuild is left over", {
        container: nameOf(old),
        id: old.Id,
        error: `${error}`,
      });
      return;
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
