/**
 * The steps of an update before a container is changed: reading everything, and getting the image.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { fullImageId, isIdOf } from "../../../engine/image_id.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { withOwnPolicy } from "../../containers/left_stopped.ts";
import { pullImage } from "../../images/pull.ts";
import { keptBy, planUndone } from "../data/restored.ts";
import { nameOf } from "../recreate/replace.ts";
import { blockOf } from "./blocked.ts";
import { nameAgain, nameImage } from "./image_name.ts";
import { changedMeanwhile, isPulled, otherPlatform } from "./latest.ts";
import type { Planned, Pulled, UpdateJob } from "./job.ts";
import { type Member, memberOf } from "./members.ts";
import { gatePlatform, isSamePlatform } from "./platform.ts";
import { blockObstacle, digestsOf, type Obstacle, surveyUpdate } from "./survey.ts";

/**
 * Reads everything again, because a queued job may start long after it was accepted.
 *
 * @throws {AppError} `conflict` with what stands in the way.
 */
export async function planUpdateJob(deps: Deps, { input }: UpdateJob): Promise<Planned> {
  const { containerId, name, reference, force, affected, expectedDigest, isRebuild } = input;
  const survey = await surveyUpdate(deps, containerId, {
    image: reference,
    digest: expectedDigest ?? undefined,
    isRebuild,
  });
  const { old, dependents, oldImage, local, watched, defaultRuntime, obstacles } = survey;
  assertNoObstacle([...obstacles, ...input.obstacles ?? []], force);
  const isReserved = (dependent: ContainerInspect) =>
    affected.some((each) => each.id === dependent.Id || each.name === nameOf(dependent));
  if (!dependents.every(isReserved)) {
    throw new AppError("conflict", `A container that depends on ${name} was created meanwhile`);
  }
  const oldReference = old.Config.Image || old.Image;
  const members: Member[] = [];
  for (const each of [old, ...dependents]) {
    members.push(await memberOf(withOwnPolicy(deps.db, each)));
  }
  return {
    oldImageId: fullImageId(old.Image),
    oldReference,
    oldDigests: oldImage ? digestsOf(oldImage, oldReference) : [],
    namedId: local ? fullImageId(local.Id) : null,
    members,
    watched: watched.map(({ id, name }) => ({ id, name })),
    defaultRuntime: defaultRuntime ?? null,
    ...(input.targetId !== undefined &&
      { undone: await planUndone(deps, keptBy(deps, survey), input) }),
  };
}

/** @throws {AppError} `conflict` with all obstacles that are left. */
export function assertNoObstacle(obstacles: readonly Obstacle[], force: boolean): void {
  const left = obstacles.filter(({ canForce }) => !(force && canForce));
  if (left.length > 0) throw new AppError("conflict", describeObstacles(left));
}

export const describeObstacles = (obstacles: readonly Obstacle[]): string =>
  obstacles.map(({ message }) => message).join("; ");

/**
 * Gets the new image, so that the reference names it.
 *
 * @throws {AppError} `not_found`; `bad_gateway` with the registry's refusal; `conflict` for an image
 * that is not the expected one, is blocked or is for another platform.
 */
export async function obtainImage(
  deps: Deps,
  { input, progress, signal }: UpdateJob,
  planned: Planned,
): Promise<Pulled> {
  const { reference, previousImageId, pull } = input;
  if (previousImageId !== null) await nameImage(deps, reference, previousImageId);
  else if (!isIdOf(reference, planned.oldImageId) && isPulled(pull, planned.namedId !== null)) {
    await pullImage(deps, { input: { image: reference, platform: null }, progress, signal });
  }
  const image = await ifThere(imageInspect(deps.engine, previousImageId ?? reference, { signal }));
  if (!image) throw new AppError("not_found", `Image ${reference} does not exist`);
  const digests = digestsOf(image, reference);
  assertExpected(input, digests);
  if (!input.force && previousImageId === null) {
    assertNotBlocked(deps, input, { digests, image });
    await assertSamePlatform(deps, input, planned, image);
  }
  const digest = input.expectedDigest ?? digests.at(-1)!;
  return { imageId: fullImageId(image.Id), digest, digests, platform: gatePlatform(image) };
}

type Input = UpdateJob["input"];

function assertExpected({ expectedDigest, reference }: Input, digests: readonly string[]): void {
  if (expectedDigest === null || digests.includes(expectedDigest)) return;
  throw new AppError("conflict", changedMeanwhile(reference));
}

function assertNotBlocked(
  deps: Deps,
  { name }: Input,
  { digests, image }: { digests: readonly string[]; image: ImageInspect },
): void {
  for (const digest of digests) {
    const reason = blockOf(deps, name, { digest, platform: image });
    if (reason !== undefined) throw new AppError("conflict", blockObstacle(name, reason).message);
  }
}

/** An engine pulls an image of another platform if the registry has no other, and cannot run it. */
async function assertSamePlatform(
  { engine }: Deps,
  { name, reference }: Input,
  { oldImageId }: Planned,
  image: ImageInspect,
): Promise<void> {
  const old = await ifThere(imageInspect(engine, oldImageId));
  if (!old || isSamePlatform(old, image)) return;
  throw new AppError("conflict", otherPlatform({ reference, name }, [image], old));
}

/**
 * Lets the reference name the image again that it named before, so that no other tool recreates the
 * container from the failed one.
 */
export async function restoreName(
  deps: Deps,
  { input: { reference } }: UpdateJob,
  { namedId, oldReference, oldImageId }: Planned,
): Promise<void> {
  const imageId = namedId ?? (reference === oldReference ? oldImageId : null);
  if (imageId !== null) await nameAgain(deps, reference, imageId);
}
