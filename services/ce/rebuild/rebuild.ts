/**
 * Recreates a container from the current version of its image.
 *
 * @module
 */

import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { parseReference } from "../../../engine/image_reference.ts";
import { type ImageInspect, imageInspect, imagePull } from "../../../engine/images.ts";
import type { Scope } from "../../auth/scope.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import type { Operation } from "../../state/reservations.ts";
import { type ActionDeps, assertNotSelf } from "../containers/actions.ts";
import {
  asContainer,
  currentContainers,
  hasStayedUp,
  inspectContainer,
  listAll,
  refreshContainer,
} from "../containers/reads.ts";
import { credentialsFor, type RegistryAccessDeps } from "../registries/access.ts";
import { planRecreation } from "./recreate.ts";
import { isUp, nameOf } from "./replace.ts";
import { identityOf } from "../containers/reserve.ts";
import { assertDependentsInScope, dependentsOf, shareGroup } from "../containers/share_group.ts";
import { replaceWithDependents } from "./dependents.ts";
import { readMark } from "./marks.ts";
import { isSwarmTask } from "../swarm/tasks.ts";

export const PULL_POLICIES = ["always", "missing", "never"] as const;
/** When the image is pulled: always, only if it is missing, or never. */
export type PullPolicy = (typeof PULL_POLICIES)[number];

export interface RebuildOptions {
  /** Default `always`. */
  pull?: PullPolicy | undefined;
  /** The operation that the rebuild belongs to; see `Reservations`. */
  operation?: Operation | undefined;
  /** The scope of the caller's API token, which must include the containers that depend on it. */
  scope?: Scope | undefined;
}

export interface RebuildResult {
  ok: true;
  oldId: string;
  id: string;
  /** The image reference of the container. */
  image: string;
  /** Whether the reference now refers to a different image. */
  imageUpdated: boolean;
}

type RebuildDeps = ActionDeps & RegistryAccessDeps;

/** Longest pull, in milliseconds. */
const PULL_TIMEOUT_MS = 30 * 60_000;

/**
 * Pulls a container's image, recreates the container from it with all other settings (see
 * `planRecreation()`), and starts it if it was running. Containers that share its network or another
 * namespace are recreated as well. A failure restores the old container. All affected containers are
 * reserved from the beginning.
 *
 * @throws {AppError} `forbidden` for the service's own container; `not_found` for an unknown
 * container or image; `bad_gateway` if the registry is unreachable or refuses; `conflict` if the
 * container is paused or a Swarm task, while another action on it or its dependents is in progress,
 * or if the engine cannot create or start the new container (with the engine's message).
 */
export async function rebuildContainer(
  deps: RebuildDeps,
  ref: string,
  { pull = "always", operation, scope }: RebuildOptions = {},
): Promise<RebuildResult> {
  const found = await inspectContainer(deps, ref);
  await assertRebuildable(deps, found);
  const container = asContainer(deps, found);
  assertDependentsInScope(scope, container, await currentContainers(deps));
  using reservation = deps.reservations.reserve(container, "rebuilt", { operation });
  reservation.add(affectedBy(container, await currentContainers(deps)));

  const { reference, image } = await obtainImage(deps, found, pull);
  // A pull can take minutes, so everything is read again.
  const all = await listAll(deps);
  const old = await inspectContainer(deps, found.Id);
  await assertRebuildable(deps, old);
  assertDependentsInScope(scope, asContainer(deps, old), all);
  reservation.add(affectedBy(asContainer(deps, old), all));
  const id = await recreate(deps, old, await inspectDependents(deps, old, all), {
    reference,
    image,
  });
  return {
    ok: true,
    oldId: old.Id,
    id,
    image: reference,
    imageUpdated: digits(image.Id) !== digits(old.Image),
  };
}

async function assertRebuildable(deps: RebuildDeps, inspect: ContainerInspect): Promise<void> {
  const container = asContainer(deps, inspect);
  assertNotSelf(container, "rebuilt");
  const { name } = container;
  const { Status } = inspect.State;
  if (await isSwarmTask(deps.engine, container)) {
    throw new AppError(
      "conflict",
      `Container ${name} is a Swarm task and is managed by Swarm`,
    );
  }
  if (["paused", "removing", "dead"].includes(Status)) {
    throw new AppError("conflict", `Container ${name} is ${Status} and cannot be rebuilt`);
  }
  if (readMark(name)) {
    throw new AppError("conflict", `Container ${name} is part of a rebuild`);
  }
}

/** Containers that a replacement replaces besides this one, and those that must run for it. */
export function affectedBy(container: Container, all: readonly Container[]) {
  const dependents = dependentsOf(container, all);
  return [...dependents, ...[container, ...dependents].flatMap((each) => shareGroup(each, all))]
    .map(identityOf);
}

async function inspectDependents(
  deps: RebuildDeps,
  old: ContainerInspect,
  all: readonly Container[],
): Promise<ContainerInspect[]> {
  const dependents = dependentsOf(asContainer(deps, old), all);
  for (const dependent of dependents) {
    assertNotSelf(dependent, `rebuilt together with ${nameOf(old)}`);
  }
  const inspected = await Promise.all(
    dependents.map(({ id }) => ifThere(containerInspect(deps.engine, id))),
  );
  return inspected.filter((each) => each !== undefined);
}

/** Replaces the container and its dependents, and updates the snapshot. */
async function recreate(
  deps: RebuildDeps,
  old: ContainerInspect,
  dependents: readonly ContainerInspect[],
  { reference, image }: { reference: string; image: ImageInspect },
): Promise<string> {
  const { engine, inventory } = deps;
  const oldImage = await ifThere(imageInspect(engine, old.Image));
  const plan = planRecreation(old, {
    image: oldImage?.Config,
    reference,
    imageId: image.Id,
    apiVersion: engine.apiVersion,
  });

  const replaced = [old, ...dependents];
  const expected = replaced.filter(isUp).map((each) => ({
    before: asContainer(deps, each),
    down: inventory.expectDown(each.Id),
  }));
  try {
    return await replaceWithDependents(deps, old, plan, dependents);
  } finally {
    const found = new Map<string, Container | undefined>();
    // By name as well, because a container may have been recreated with another id.
    for (const ref of replaced.flatMap((each) => [each.Id, nameOf(each)])) {
      found.set(ref, (await refreshContainer(deps, ref).catch(() => undefined))?.now);
    }
    for (const { before, down } of expected) {
      if (hasStayedUp(before, found.get(before.id))) down.withdraw();
      else down.settle();
    }
  }
}

/** The image to use and its reference. */
async function obtainImage(
  deps: RebuildDeps,
  { Config, Image }: ContainerInspect,
  pull: PullPolicy,
): Promise<{ reference: string; image: ImageInspect }> {
  const { engine } = deps;
  const reference = Config.Image || Image;
  // A container created from an image id has no name to pull.
  const hasName = !isIdOf(reference, Image);
  const present = pull === "always" && hasName
    ? undefined
    : await ifThere(imageInspect(engine, reference));
  if (hasName && (pull === "always" || (pull === "missing" && !present))) {
    await pullImage(deps, reference);
  }
  const image = present ?? await ifThere(imageInspect(engine, reference));
  if (!image) throw new AppError("not_found", `Image ${reference} does not exist`);
  return { reference, image };
}

async function pullImage(deps: RebuildDeps, reference: string): Promise<void> {
  const timeout = AbortSignal.timeout(PULL_TIMEOUT_MS);
  try {
    const auth = credentialsFor(deps, parseReference(reference));
    await imagePull(deps.engine, reference, { auth, signal: timeout });
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) {
      throw new AppError("not_found", `Image ${reference} does not exist: ${error.message}`, {
        cause: error,
      });
    }
    if (error instanceof EngineError) {
      throw new AppError(
        "bad_gateway",
        `Image ${reference} could not be pulled: ${error.message}`,
        { cause: error },
      );
    }
    // The engine responds, but the registry does not.
    if (
      timeout.aborted || (error instanceof EngineUnreachableError && error.reason === "timeout")
    ) {
      throw new AppError("bad_gateway", `Timeout while pulling image ${reference}`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** Whether a reference is the image's id or a prefix of it. */
export function isIdOf(reference: string, imageId: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{6,64}$/.test(reference) &&
    digits(imageId).startsWith(digits(reference));
}

/** The id without the prefix, which Podman omits. */
const digits = (id: string) => id.replace(/^sha256:/, "");
