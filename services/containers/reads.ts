/** Reads containers from the snapshot while it is live, otherwise from the engine. @module */

import { type ContainerInspect, containerInspect, containerList } from "../../engine/containers.ts";
import { EngineError, ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { includesContainer, isLimited } from "../access/scope.ts";
import { AppError, notFound } from "../errors.ts";
import type { Container, Inventory } from "./inventory.ts";
import { selfMatcher } from "./self_container.ts";
import { isHelper } from "./helpers.ts";
import { knownOwnLabels, learnImageOf } from "./own_labels.ts";
import { toContainer } from "./record.ts";

export type ReadDeps = Pick<Deps, "engine" | "inventory" | "self">;

/** Parallel inspect requests of a listing. */
const INSPECTS_MAX = 16;

/**
 * All containers, newest first.
 *
 * @throws {EngineUnreachableError} If the snapshot is not live and the engine does not respond.
 */
export async function currentContainers(deps: ReadDeps): Promise<readonly Container[]> {
  const { inventory } = deps;
  return inventory.live ? inventory.list() : await inventory.shareListing(() => listAll(deps));
}

/** Reads all containers from the engine into the snapshot. */
export async function listAll(deps: ReadDeps, signal?: AbortSignal): Promise<readonly Container[]> {
  const { engine, inventory } = deps;
  const readNumber = inventory.readNumber();
  const listed = await containerList(engine, { all: true, signal });
  const ids = listed.filter(({ Labels, Image }) => !isHelper(Labels, Image)).map(({ Id }) => Id);

  const found: Container[] = [];
  const inspectNext = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const inspect = await ifThere(containerInspect(engine, id, { signal }));
      if (!inspect) continue;
      await learnImageOf(engine, inspect);
      found.push(asContainer(deps, inspect));
    }
  };
  await Promise.all(Array.from({ length: INSPECTS_MAX }, inspectNext));
  inventory.replaceAll(found, readNumber);
  return inventory.list();
}

/**
 * Reads one container from the engine into the snapshot.
 *
 * @returns The container now and before; `undefined` if it does not exist or was not known.
 */
export async function refreshContainer(
  deps: ReadDeps,
  id: string,
  signal?: AbortSignal,
): Promise<{ now: Container | undefined; before: Container | undefined }> {
  const { engine, inventory } = deps;
  const readNumber = inventory.readNumber();
  const inspect = await ifThere(containerInspect(engine, id, { signal }));
  const before = inventory.get(id);
  if (!inspect) {
    inventory.remove(id, readNumber);
    return { now: undefined, before };
  }
  await learnImageOf(engine, inspect);
  const now = asContainer(deps, inspect);
  inventory.put(now, readNumber);
  return { now, before };
}

export const isUp = ({ state }: Container): boolean => state === "running" || state === "paused";

/** Whether a container has been up since it was read before. */
export function hasStayedUp(before: Container, now: Container | undefined): boolean {
  return now !== undefined && now.startedAt === before.startedAt && isUp(now);
}

/**
 * Finds a container by full id, name or unambiguous prefix of its id, in this order, as the engine
 * does.
 *
 * @throws {AppError} `not_found`; `invalid` for a prefix of several ids.
 */
export async function resolveContainer(deps: ReadDeps, ref: string): Promise<Container> {
  const known = deps.inventory.live ? findIn(deps.inventory, ref) : undefined;
  return known ?? await readInScope(deps, ref);
}

/** Containers outside of the scope do not exist: neither their names nor their ids' prefixes. */
async function readInScope(deps: ReadDeps, ref: string): Promise<Container> {
  const { scope } = deps.inventory;
  try {
    const container = asContainer(deps, await inspectContainer(deps, ref));
    if (includesContainer(scope, container)) return container;
  } catch (error) {
    if (!isLimited(scope) || !(error instanceof AppError)) throw error;
  }
  throw notFound("Container", ref);
}

/**
 * Reads the engine's description of a container.
 *
 * @param ref Full id, name, or unambiguous prefix.
 * @throws {AppError} `not_found`; `invalid` for a prefix of several ids.
 */
export async function inspectContainer(
  { engine }: Pick<Deps, "engine">,
  ref: string,
): Promise<ContainerInspect> {
  try {
    const inspect = await containerInspect(engine, ref);
    await learnImageOf(engine, inspect);
    return inspect;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (AMBIGUOUS.test(error.message)) throw ambiguous(ref, error);
    if (error.status === 404) throw notFound("Container", ref);
    throw error;
  }
}

const AMBIGUOUS = /multiple (IDs|containers) found|more than one result/i;

/**
 * Finds a container by its exact name, which can also be the beginning of other containers' ids.
 */
export async function findByName(
  engine: Deps["engine"],
  name: string,
): Promise<ContainerInspect | undefined> {
  try {
    const found = await ifThere(containerInspect(engine, name));
    return found?.Name.replace(/^\//, "") === name ? found : undefined;
  } catch (error) {
    if (error instanceof EngineError && AMBIGUOUS.test(error.message)) return undefined;
    throw error;
  }
}

export function asContainer(
  { engine, self }: Pick<Deps, "engine" | "self">,
  inspect: ContainerInspect,
): Container {
  return toContainer(inspect, {
    self: selfMatcher(self)({
      id: inspect.Id,
      hostname: inspect.Config.Hostname ?? "",
      networkMode: inspect.HostConfig.NetworkMode ?? "",
    }),
    labels: knownOwnLabels(engine, inspect.Config.Labels, inspect.Image),
  });
}

/** The references and the names of their containers, if known; for logs. */
export function namesOf({ inventory }: Pick<Deps, "inventory">, refs: readonly string[]): string[] {
  const nameOf = (ref: string) => {
    try {
      return findIn(inventory, ref)?.name ?? ref;
    } catch {
      return ref; // an ambiguous prefix
    }
  };
  return [...new Set(refs.flatMap((ref) => [nameOf(ref), ref]))];
}

function findIn(inventory: Inventory, ref: string): Container | undefined {
  const exact = inventory.get(ref) ?? inventory.list().find(({ name }) => name === ref);
  if (exact || !/^[0-9a-f]+$/.test(ref)) return exact;
  const [first, second] = inventory.list().filter(({ id }) => id.startsWith(ref));
  if (second) throw ambiguous(ref);
  return first;
}

const ambiguous = (ref: string, cause?: Error) =>
  new AppError("invalid", `Several container ids begin with ${ref}`, { cause });
