/**
 * Checks of images that a user requests, as jobs. They work while periodic checks are off.
 *
 * @module
 */

import { canonicalReference, findReference } from "../../../engine/image_reference.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { currentContainers } from "../../containers/reads.ts";
import type { JobRun, NamedJobKind } from "../../jobs/kind.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { type ImageInUse, imagesInUse, isWatched } from "./in_use.ts";
import { withServices } from "./service_images.ts";
import type { CheckSummary } from "./round.ts";
import { CHECK_TARGET } from "./target.ts";

interface CheckInput {
  /** Canonical references; `null`: all images, unless labels turn checks off. */
  images: string[] | null;
  /** Whether newer versions are listed for all of them. */
  newerVersions: boolean;
}

export const updateCheckKind: NamedJobKind<CheckInput, CheckSummary> = {
  id: "updates.check",
  group: "Updates",
  title: "Check",
  running: "Checking for updates",
  targetType: CHECK_TARGET.targetType,
  role: "operator",
  permission: "containers:update",
  run: check,
  // Answers are stored one by one, and asking again does no harm.
  recover: check,
};

/**
 * Starts a check.
 *
 * @param input.images References in any spelling; without them, all images are checked.
 * @throws {AppError} `invalid` for an image that no container uses; `conflict` if a check is running.
 */
export async function startCheck(
  deps: Deps,
  caller: Caller,
  { images, newerVersions }: { images?: readonly string[] | undefined; newerVersions: boolean },
): Promise<JobView> {
  const inUse = new Set((await usedImages(deps)).map(({ image }) => image));
  const wanted = images?.map((text, at) => {
    const reference = findReference(text);
    const image = reference && canonicalReference(reference);
    if (image !== undefined && inUse.has(image)) return image;
    throw new AppError("invalid", `body.images[${at}]: no container uses ${text}`);
  });
  const input = { images: wanted ?? null, newerVersions };
  return startJob(deps, updateCheckKind, { target: CHECK_TARGET.target, input, caller }).job;
}

async function check(
  deps: Deps,
  { input, progress, signal, step }: JobRun<CheckInput>,
): Promise<CheckSummary> {
  return await step("check", async () => {
    const { checkImages } = await import("./round.ts");
    const images = (await usedImages(deps)).filter(selector(input));
    return await checkImages(deps, images, {
      newerVersions: input.newerVersions,
      signal,
      onProgress: ({ done, total, image }) => progress({ current: done, total, message: image }),
    });
  });
}

const usedImages = async (deps: Deps) =>
  await withServices(deps, {}, imagesInUse(await currentContainers(deps)));

function selector({ images }: CheckInput): (image: ImageInUse) => boolean {
  return images === null ? isWatched : ({ image }) => images.includes(image);
}
