/**
 * Reading containers: from the snapshot while it is followed, from the engine otherwise.
 *
 * @module
 */

import {
  type ContainerInspect,
  containerInspect,
  containerList,
} from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Container, Inventory } from "../../state/inventory.ts";
import { selfMatcher } from "../../state/self_container.ts";
import { toContainer } from "./record.ts";

export type ReadDeps = Pick<Deps, "engine" | "inventory" | "self">;

/** Inspects under way at a time while everything is listed. */
const INSPECTS_MAX = 16;

/** A listing under way, shared by all who ask meanwhile. */
const listings = new WeakMap<Inventory, Promise<readonly Container[]>>();

/**
 * All containers, newest first, as they are now.
 *
 * @throws {EngineUnreachableError} When nobody follows the engine and it does not answer either.
 */
export async function currentContainers(deps: ReadDeps): Promise<readonly Container[]> {
  const { inventory } = deps;
  if (inventory.live) return inventory.list();
  let listing = listings.get(inventory);
  if (!listing) {
    listing = listAll(deps).finally(() => listings.delete(inventory));
    listings.set(inventory, listing);
  }
  return await listing;
}

/** Asks the engine for everything and replaces the snapshot. */
export async function listAll(
  deps: ReadDeps,
  signal?: AbortSignal,
): Promise<readonly Container[]> {
  const { engine, inventory } = deps;
  const readNumber = inventory.readNumber();
  const ids = (await containerList(engine, { all: true, signal })).map(({ Id }) => Id);

  const found: Container[] = [];
  const inspectNext = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const inspect = await ifThere(containerInspect(engine, id, { signal }));
      if (inspect) found.push(asContainer(deps, inspect));
    }
  };
  await Promise.all(Array.from({ length: INSPECTS_MAX }, inspectNext));
  inventory.replaceAll(found, readNumber);
  return inventory.list();
}

/**
 * Reads one container anew into the snapshot.
 *
 * @returns Its state now and before; `undefined` where it is gone or was not known.
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
  const now = asContainer(deps, inspect);
  inventory.put(now, readNumber);
  return { now, before };
}

/** Whether a container that was read before has been up ever since. */
export function hasStayedUp(before: Container, now: Container | undefined): boolean {
  return now !== undefined && now.startedAt === before.startedAt &&
    (now.state === "running" || now.state === "paused");
}

/**
 * Finds a container by full id, name, or unambiguous prefix of its id, in this order (which is
 * the engine's).
 *
 * @throws {AppError} `not_found`; `invalid` for a prefix of several ids.
 */
export async function resolveContainer(deps: ReadDeps, ref: string): Promise<Container> {
  const known = deps.inventory.live ? findIn(deps.inventory, ref) : undefined;
  return known ?? asContainer(deps, await inspectContainer(deps, ref));
}

/**
 * The engine's full description of a container, asked for now.
 *
 * @param ref Full id, name, or unambiguous prefix.
 * @throws {AppError} `not_found`; `invalid` for a prefix of several ids.
 */
export async function inspectContainer(
  { engine }: Pick<Deps, "engine">,
  ref: string,
): Promise<ContainerInspect> {
  try {
    return await containerInspect(engine, ref);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (/multiple (IDs|containers) found|more than one result/i.test(error.message)) {
      throw ambiguous(ref, error);
    }
    if (error.status === 404) throw notFound("Container", ref);
    throw error;
  }
}

export function asContainer({ self }: Pick<Deps, "self">, inspect: ContainerInspect): Container {
  return toContainer(
    inspect,
    selfMatcher(self)({
      id: inspect.Id,
      hostname: inspect.Config.Hostname ?? "",
      networkMode: inspect.HostConfig.NetworkMode ?? "",
    }),
  );
}

/** The given references with the names that they stand for, as far as they are known; for logs. */
export function namesOf(
  { inventory }: Pick<Deps, "inventory">,
  refs: readonly string[],
): string[] {
  const nameOf = (ref: string) => {
    try {
      return findIn(inventory, ref)?.name ?? ref;
    } catch {
      return ref; // a prefix of several ids
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
  new AppError("invalid", `Several containers have an id that begins with ${ref}`, { cause });
