/**
 * Recreates a container from its image as it is now, with everything else kept.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect, imagePull } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
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
import { recreation } from "./recreate.ts";
import { isUp, nameOf } from "./replace.ts";
import { identityOf } from "../containers/reserve.ts";
import { dependentsOf, shareGroup } from "../containers/share_group.ts";
import { replaceWithDependents } from "./dependents.ts";
import { readMark } from "./marks.ts";
import { isSwarmTask } from "../swarm/tasks.ts";

export const PULL_POLICIES = ["always", "missing", "never"] as const;
/** Whether the registry is asked for the image: always, only where the image is missing, or never. */
export type PullPolicy = (typeof PULL_POLICIES)[number];

export interface RebuildOptions {
  /** Default `always`. */
  pull?: PullPolicy | undefined;
  /** What the rebuild is a part of; see `Reservations`. */
  operation?: Operation | undefined;
}

export interface RebuildResult {
  ok: true;
  oldId: string;
  id: string;
  /** The image reference of the container. */
  image: string;
  /** Whether the reference now means another image than before. */
  imageUpdated: boolean;
}

type RebuildDeps = ActionDeps & Pick<Deps, "db" | "log">;

/** Longest pull, in milliseconds. */
const PULL_TIMEOUT_MS = 30 * 60_000;

/**
 * Pulls a container's image, creates the container again from it with everything else kept (see
 * `recreation()`), and starts it if it ran. Containers that share its network or another namespace
 * are recreated on it. Any failure leaves the old container as it was. All of them are reserved
 * from before the first step.
 *
 * @throws {AppError} `forbidden` for the service's own container; `not_found` for an unknown
 * container or image; `bad_gateway` when the registry does not answer or refuses; `conflict` when
 * the container is paused, a task of Swarm, when another action is under way on it or on what
 * depends on it, or when the engine cannot create or start the new one (with the engine's
 * sentence).
 */
export async function rebuildContainer(
  deps: RebuildDeps,
  ref: string,
  { pull = "always", operation }: RebuildOptions = {},
): Promise<RebuildResult> {
  const found = await inspectContainer(deps, ref);
  await assertRebuildable(deps, found);
  const container = asContainer(deps, found);
  using reservation = deps.reservations.reserve(container, "rebuilt", { operation });
  reservation.add(affectedBy(container, await currentContainers(deps)));

  const { reference, image } = await obtainImage(deps.engine, found, pull);
  // A pull can take minutes, so everything is read again.
  const all = await listAll(deps);
  const old = await inspectContainer(deps, found.Id);
  await assertRebuildable(deps, old);
  reservation.add(affectedBy(asContainer(deps, old), all));
  const id = await renew(deps, old, await inspectDependents(deps, old, all), { reference, image });
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
      `Container ${name} is a task of a Swarm service; Swarm creates its containers itself`,
    );
  }
  if (["paused", "removing", "dead"].includes(Status)) {
    throw new AppError("conflict", `Container ${name} is ${Status} and cannot be rebuilt`);
  }
  if (readMark(name)) {
    throw new AppError("conflict", `Container ${name} is itself part of a rebuild`);
  }
}

/** All that a rebuild replaces besides the container, and all that must run for it. */
function affectedBy(container: Container, all: readonly Container[]) {
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
    assertNotSelf(dependent, `rebuilt, as it would be with ${nameOf(old)}`);
  }
  const inspected = await Promise.all(
    dependents.map(({ id }) => ifThere(containerInspect(deps.engine, id))),
  );
  return inspected.filter((each) => each !== undefined);
}

/** Replaces the container and what depends on it; the snapshot shows the result afterwards. */
async function renew(
  deps: RebuildDeps,
  old: ContainerInspect,
  dependents: readonly ContainerInspect[],
  { reference, image }: { reference: string; image: ImageInspect },
): Promise<string> {
  const { engine, inventory } = deps;
  const oldImage = await ifThere(imageInspect(engine, old.Image));
  const plan = recreation(old, {
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
    // By name as well, because each container may have come back under another id.
    for (const ref of replaced.flatMap((each) => [each.Id, nameOf(each)])) {
      found.set(ref, (await refreshContainer(deps, ref).catch(() => undefined))?.now);
    }
    for (const { before, down } of expected) {
      if (hasStayedUp(before, found.get(before.id))) down.withdraw();
      else down.settle();
    }
  }
}

/** The image to use, with the reference that names it. */
async function obtainImage(
  engine: Engine,
  { Config, Image }: ContainerInspect,
  pull: PullPolicy,
): Promise<{ reference: string; image: ImageInspect }> {
  const reference = Config.Image || Image;
  // What was created from an id has no name to ask a registry for.
  const hasName = !isIdOf(reference, Image);
  const present = pull === "always" && hasName
    ? undefined
    : await ifThere(imageInspect(engine, reference));
  if (hasName && (pull === "always" || (pull === "missing" && !present))) {
    await pullImage(engine, reference);
  }
  const image = present ?? await ifThere(imageInspect(engine, reference));
  if (!image) throw new AppError("not_found", `Image ${reference} does not exist`);
  return { reference, image };
}

async function pullImage(engine: Engine, reference: string): Promise<void> {
  const timeout = AbortSignal.timeout(PULL_TIMEOUT_MS);
  try {
    await imagePull(engine, reference, { signal: timeout });
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
    // The engine itself answers, but waits for the registry.
    if (
      timeout.aborted || (error instanceof EngineUnreachableError && error.reason === "timeout")
    ) {
      throw new AppError("bad_gateway", `Image ${reference} did not come in time`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** Whether a reference is an image's id, or the beginning of it. */
function isIdOf(reference: string, imageId: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{6,64}$/.test(reference) &&
    digits(imageId).startsWith(digits(reference));
}

/** Podman leaves the prefix out. */
const digits = (id: string) => id.replace(/^sha256:/, "");
