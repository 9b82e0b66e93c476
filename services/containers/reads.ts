/** Reads containers from the snapshot while it is live, otherwise from the engine. @module */

import {
  type ContainerInspect,
  containerInspect,
  containerList,
  type ContainerSummary,
} from "../../engine/containers.ts";
import { EngineError, ifThere } from "../../engine/errors.ts";
import { KEPT_LIMITS } from "../../engine/shortened_json.ts";
import type { Deps } from "../deps.ts";
import { includesContainer, isLimited } from "../access/scope.ts";
import { AppError, notFound } from "../errors.ts";
import type { Container, Inventory } from "./inventory.ts";
import { selfMatcher } from "./self_container.ts";
import { isHelper } from "./helpers.ts";
import { knownOwnLabels, learnImage, learnImageOf } from "./own_labels.ts";
import { toContainer, toListedContainer } from "./record.ts";
import { describeUnreadable, isUnreadable } from "./unreadable.ts";

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

/** As {@linkcode currentContainers}, or as they were known if the engine's list cannot be read. */
export async function knownContainers(deps: ReadDeps): Promise<readonly Container[]> {
  try {
    return await currentContainers(deps);
  } catch (error) {
    if (!await isUnreadable(deps.engine, error)) throw error;
    return deps.inventory.list();
  }
}

/** Reads all containers from the engine into the snapshot. */
export async function listAll(deps: ReadDeps, signal?: AbortSignal): Promise<readonly Container[]> {
  const { engine, inventory } = deps;
  const readNumber = inventory.readNumber();
  const listed = await containerList(engine, { all: true, signal });
  const pending = listed.filter(({ Labels, Names, State }) =>
    !isHelper(Labels, Names?.[0], { isNew: State === "created" })
  );

  const found: Container[] = [];
  const inspectNext = async () => {
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const container = await readContainer(deps, next, signal);
      if (container) found.push(container);
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
  const { inventory } = deps;
  const readNumber = inventory.readNumber();
  const now = await readContainer(deps, id, signal);
  const before = inventory.get(id);
  if (now) inventory.put(now, readNumber);
  else inventory.remove(id, readNumber);
  return { now, before };
}

/**
 * Reads one container. One that the engine does not describe is as the engine lists it, or as it was
 * known.
 *
 * @param container Its full id, or how it is listed.
 */
async function readContainer(
  deps: ReadDeps,
  container: string | ContainerSummary,
  signal?: AbortSignal,
): Promise<Container | undefined> {
  const { engine } = deps;
  const id = typeof container === "string" ? container : container.Id;
  try {
    const inspect = await ifThere(containerInspect(engine, id, { limits: KEPT_LIMITS, signal }));
    if (
      !inspect || isHelper(inspect.Config.Labels, inspect.Name, {
        isNew: inspect.State.Status === "created",
      })
    ) return undefined;
    await learnImageOf(engine, inspect);
    return asContainer(deps, inspect);
  } catch (error) {
    if (!await isUnreadable(engine, error, signal)) throw error;
    return typeof container === "string"
      ? await readListed(deps, id, error, signal)
      : await asListed(deps, container, error);
  }
}

/** A full id. */
const ID = /^[0-9a-f]{64}$/;

/**
 * Finds a container without its description. If the list cannot be read either, a known id is enough,
 * so that the container can be stopped and removed.
 *
 * @param cause Why it cannot be described.
 */
async function readListed(
  deps: ReadDeps,
  ref: string,
  cause: unknown,
  signal?: AbortSignal,
): Promise<Container | undefined> {
  const { engine, inventory } = deps;
  try {
    const listed = await containerList(engine, { all: true, signal });
    const found = findListed(listed, ref);
    return found && await asListed(deps, found, cause);
  } catch (error) {
    if (!await isUnreadable(engine, error, signal)) throw error;
    const known = findIn(inventory, ref);
    if (known) return { ...known, warning: describeUnreadable(cause) };
    if (isLimited(inventory.scope)) throw notFound("Container", ref);
    if (!ID.test(ref)) throw cause;
    return await asListed(deps, { Id: ref }, cause);
  }
}

function findListed(listed: readonly ContainerSummary[], ref: string) {
  const names = (each: ContainerSummary) => each.Names.map((name) => name.replace(/^\//, ""));
  return listed.find(({ Id }) => Id === ref) ??
    listed.find((each) => names(each).includes(ref)) ?? uniqueById(listed, ref, ({ Id }) => Id);
}

async function asListed(
  { engine, inventory, self }: ReadDeps,
  listed: Pick<ContainerSummary, "Id"> & Partial<ContainerSummary>,
  cause: unknown,
): Promise<Container> {
  const { Id: id, Labels, ImageID = "", HostConfig } = listed;
  await learnImage(engine, Labels, ImageID);
  return toListedContainer(listed, {
    temporary: inventory.temporary,
    self: inventory.get(id)?.self ??
      selfMatcher(self)({ id, hostname: "", networkMode: HostConfig?.NetworkMode ?? "" }),
    labels: knownOwnLabels(engine, Labels, ImageID),
    warning: describeUnreadable(cause),
  });
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
    const container = await inspectContainer(deps, ref).then(
      (inspect) => asContainer(deps, inspect),
      async (error) => {
        if (error instanceof AppError || !await isUnreadable(deps.engine, error)) throw error;
        return await readListed(deps, ref, error);
      },
    );
    if (container && includesContainer(scope, container)) return container;
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

/** `undefined` if it no longer exists. */
export const inspectIfThere = (
  engine: Deps["engine"],
  id: string,
): Promise<ContainerInspect | undefined> => ifThere(containerInspect(engine, id));

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
  { engine, inventory, self }: ReadDeps,
  inspect: ContainerInspect,
): Container {
  return toContainer(inspect, {
    temporary: inventory.temporary,
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
  return inventory.get(ref) ?? inventory.list().find(({ name }) => name === ref) ??
    uniqueById(inventory.list(), ref, ({ id }) => id);
}

/** @throws {AppError} `invalid` for a prefix of several ids. */
function uniqueById<Each>(
  all: readonly Each[],
  prefix: string,
  idOf: (each: Each) => string,
): Each | undefined {
  if (!/^[0-9a-f]+$/.test(prefix)) return undefined;
  const [first, second] = all.filter((each) => idOf(each).startsWith(prefix));
  if (second) throw ambiguous(prefix);
  return first;
}

const ambiguous = (ref: string, cause?: Error) =>
  new AppError("invalid", `Several container ids begin with ${ref}`, { cause });
