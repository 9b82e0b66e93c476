/** Creates and removes the containers of a replacement. @module */

import type { Engine } from "../../../engine/client.ts";
import {
  containerCreate,
  type ContainerInspect,
  containerInspect,
  containerRemove,
} from "../../../engine/containers.ts";
import {
  EngineError,
  EngineUnreachableError,
  ifThere,
  RefusedCallError,
} from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import { networkConnect, networkDisconnect, networkList } from "../../../engine/networks.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { findByName, type ReadDeps, refreshContainer } from "../../containers/reads.ts";
import { assertComplete } from "../../containers/unreadable.ts";
import { planRecreation, type RecreateOptions, type Recreation } from "./recreate.ts";

type ReplaceDeps = ReadDeps & Pick<Deps, "log">;

/** Longest removal of a container that removes itself, whose files may be many, in milliseconds. */
const REMOVAL_WAIT_MS = 600_000;
const REMOVAL_POLL_MS = 50;
const REMOVAL_POLL_MAX_MS = 1_000;

/** Attempts to remove the old container, whose filesystems may be busy for a moment. */
const REMOVAL_TRIES = 5;
const REMOVAL_PAUSE_MS = 500;

/**
 * Creates a container under a temporary name. The old one is not changed.
 *
 * @param names.temporaryName Also finds the container of an earlier attempt, which is replaced.
 * @returns Its id.
 * @throws {AppError} `not_found` if the image does not exist; `conflict` with the engine's message
 * for every other failure. No new container is left then.
 */
export async function prepareReplacement(
  deps: ReplaceDeps,
  plan: Recreation,
  { name, temporaryName }: { name: string; temporaryName: string },
): Promise<string> {
  const { engine, inventory, log } = deps;
  try {
    await removeLeftover(engine, temporaryName);
    const id = await createFrom(engine, temporaryName, plan);
    inventory.temporary.record({ id, name });
    // It may have been read before it was recorded.
    await refreshContainer(deps, id).catch(() => {});
    return id;
  } catch (error) {
    try {
      await removeLeftover(engine, temporaryName);
    } catch (error) {
      log.error("rollback failed", { container: name, error: `${error}` });
    }
    throw asCreationError(error, name);
  }
}

/**
 * Creates a container and connects it to its networks; removes it again on failure.
 *
 * @throws {AppError} `conflict` if the engine would take a network's name for another network's id.
 */
export async function createFrom(
  engine: Engine,
  name: string,
  { create, platform, connect, disconnect }: Recreation,
): Promise<string> {
  await assertNetworkNames(engine, [
    ...Object.keys(create.NetworkingConfig?.EndpointsConfig ?? {}),
    ...connect.map(({ network }) => network),
  ]);
  const { id } = await containerCreate(engine, { name, platform, body: create });
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

/** The engine also finds networks by the beginning of their id, which consists of these digits. */
const LIKE_ID = /^[0-9a-f]{1,64}$/;

async function assertNetworkNames(engine: Engine, names: readonly string[]): Promise<void> {
  const unclear = names.filter((name) => LIKE_ID.test(name));
  if (unclear.length === 0) return;
  const networks = await networkList(engine);
  for (const name of unclear) {
    const other = networks.some(({ Name }) => Name === name)
      ? networks.find(({ Id, Name }) => Id === name && Name !== name)
      : networks.find(({ Id }) => Id.startsWith(name));
    if (other) {
      throw new AppError("conflict", `Network ${name} is not the name, but the id of a network`);
    }
  }
}

/** Plans a container like this one, from the image that it has now. */
export async function planSameImage(
  { engine }: Pick<Deps, "engine">,
  container: ContainerInspect,
  options: Pick<RecreateOptions, "successors" | "defaultRuntime">,
): Promise<Recreation> {
  const reference = container.Config.Image ?? container.Image;
  const image = await ifThere(imageInspect(engine, container.Image));
  const named = await ifThere(imageInspect(engine, reference));
  assertComplete(container, `Container ${nameOf(container)}`);
  assertComplete(image ?? {}, `The image of ${nameOf(container)}`);
  return planRecreation(container, {
    ...options,
    image: image?.Config,
    // The name may refer to a newer image by now, which was not requested.
    reference: named?.Id === image?.Id ? reference : container.Image,
    apiVersion: engine.apiVersion,
  });
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

/**
 * @param options.now A monotonic clock in milliseconds, and what waits on it.
 * @throws {AppError} `conflict` if the container still exists after {@linkcode REMOVAL_WAIT_MS}.
 */
export async function untilGone(
  engine: Engine,
  id: string,
  { now = () => performance.now(), pause = sleep }: {
    now?: () => number;
    pause?: (ms: number) => Promise<void>;
  } = {},
): Promise<void> {
  let pauseMs = REMOVAL_POLL_MS;
  for (const until = now() + REMOVAL_WAIT_MS; now() < until;) {
    if (await ifThere(containerInspect(engine, id)) === undefined) return;
    await pause(pauseMs);
    pauseMs = Math.min(REMOVAL_POLL_MAX_MS, pauseMs * 1.2);
  }
  throw new AppError("conflict", `Timeout while removing container ${id.slice(0, 12)}`);
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
  const leftover = await findByName(engine, name);
  if (leftover?.State.Status === "created") {
    await ifThere(containerRemove(engine, leftover.Id));
  }
}

/** The name without the engine's leading slash. */
export const nameOf = ({ Name }: ContainerInspect) => Name.replace(/^\//, "");

/** Whether it is running, or being restarted by the engine. */
export const isUp = ({ State }: ContainerInspect) => State.Running || State.Restarting;

/** The engine's message for the caller. */
function asCreationError(error: unknown, name: string): unknown {
  if (!(error instanceof EngineError) || error instanceof RefusedCallError) return error;
  if (error.status === 404 && /no such image/i.test(error.message)) {
    return new AppError("not_found", error.message, { cause: error });
  }
  const message = `Container ${name} could not be created: ${error.message}`;
  return new AppError("conflict", message, { cause: error });
}
