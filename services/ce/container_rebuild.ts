/**
 * A container made anew from its image as it is now, with everything else kept.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import type { ContainerInspect } from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { type ImageInspect, imageInspect, imagePull } from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container } from "../inventory.ts";
import { assertNotSelf } from "./container_actions.ts";
import {
  asContainer,
  hasStayedUp,
  inspectContainer,
  type ReadDeps,
  refreshContainer,
} from "./container_reads.ts";
import { recreation } from "./container_recreate.ts";
import { isUp, nameOf, replaceContainer } from "./container_replace.ts";
import { dependentsOf, moveDependent, rejoinDependents } from "./rebuild_dependents.ts";
import { beginRebuild, readMark } from "./rebuild_marks.ts";

export const PULL_POLICIES = ["always", "missing", "never"] as const;
/** Whether the image is asked for at its registry: also where it is there, only then, or not. */
export type PullPolicy = (typeof PULL_POLICIES)[number];

export interface RebuildResult {
  ok: true;
  oldId: string;
  id: string;
  /** The reference that the container was, and is, made of. */
  image: string;
  /** Whether that now means another image than before. */
  imageUpdated: boolean;
}

type RebuildDeps = ReadDeps & Pick<Deps, "log">;

/** Longest pull, in milliseconds. */
const PULL_TIMEOUT_MS = 30 * 60_000;

/**
 * Pulls a container's image, creates the container anew from it with everything else kept (see
 * `recreation()`), and starts it if it ran. Containers that share its network or another namespace
 * are made anew upon it. Any failure leaves the old container as it was.
 *
 * @throws {AppError} `forbidden` for the service's own container; `not_found` for an unknown
 * container or image; `bad_gateway` when the registry does not answer or refuses; `conflict` when
 * the container is paused, a task of Swarm, being rebuilt already, or when the engine cannot create
 * or start the new one (with the engine's sentence).
 */
export async function rebuildContainer(
  deps: RebuildDeps,
  ref: string,
  { pull = "always" }: { pull?: PullPolicy } = {},
): Promise<RebuildResult> {
  const found = await inspectContainer(deps, ref);
  assertRebuildable(deps, found);
  using _rebuild = beginRebuild(deps.engine, nameOf(found));

  const { reference, image } = await obtainImage(deps.engine, found, pull);
  // A pull may take minutes, in which much can happen.
  const old = await inspectContainer(deps, found.Id);
  assertRebuildable(deps, old);
  const id = await renew(deps, old, reference);
  return {
    ok: true,
    oldId: old.Id,
    id,
    image: reference,
    imageUpdated: digits(image.Id) !== digits(old.Image),
  };
}

function assertRebuildable(deps: RebuildDeps, container: ContainerInspect): void {
  assertNotSelf(asContainer(deps, container), "rebuilt");
  const name = nameOf(container);
  const { Status } = container.State;
  if (container.Config.Labels?.["com.docker.swarm.task.id"]) {
    throw new AppError(
      "conflict",
      `Container ${name} is a task of a Swarm service, which makes its containers itself`,
    );
  }
  if (["paused", "removing", "dead"].includes(Status)) {
    throw new AppError("conflict", `Container ${name} is ${Status} and cannot be rebuilt`);
  }
  if (readMark(name)) {
    throw new AppError("conflict", `Container ${name} is part of a rebuild itself`);
  }
}

/** Replaces the container and moves what depends on it. */
async function renew(
  deps: RebuildDeps,
  old: ContainerInspect,
  reference: string,
): Promise<string> {
  const { engine, inventory } = deps;
  const dependents = await dependentsOf(engine, old);
  for (const dependent of dependents) {
    assertNotSelf(asContainer(deps, dependent), `rebuilt, as it would be with ${nameOf(old)}`);
  }
  const oldImage = await ifThere(imageInspect(engine, old.Image));
  const plan = recreation(old, {
    image: oldImage?.Config,
    reference,
    apiVersion: engine.apiVersion,
  });

  const expected = [old, ...dependents].filter(isUp).map((each) => ({
    before: asContainer(deps, each),
    down: inventory.expectDown(each.Id),
  }));
  const touched = new Set([old.Id, ...dependents.map(({ Id }) => Id)]);
  try {
    let id: string;
    try {
      id = await replaceContainer(deps, old, plan);
    } catch (error) {
      if (isUp(old)) await rejoinDependents(deps, dependents);
      // One that removes itself came back under another id.
      const holder = await inspectContainer(deps, nameOf(old)).catch(() => undefined);
      if (holder) touched.add(holder.Id);
      throw error;
    }
    touched.add(id);
    const successors = new Map([[old.Id, id]]);
    for (const dependent of dependents) {
      try {
        touched.add(await moveDependent(deps, dependent, successors));
      } catch (error) {
        // The rebuild itself is done; going back would take the other dependents down again.
        deps.log.error("a container could not be moved to what it shares", {
          container: nameOf(dependent),
          error: `${error}`,
        });
      }
    }
    return id;
  } finally {
    // The next read shows what came of it, whatever it was.
    const found = new Map<string, Container | undefined>();
    for (const id of touched) {
      found.set(id, (await refreshContainer(deps, id).catch(() => undefined))?.now);
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
