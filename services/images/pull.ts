/** Pulls of images, as jobs. @module */

import { fullImageId } from "../../engine/image_id.ts";
import { canonicalReference, parseReference } from "../../engine/image_reference.ts";
import { imageInspect } from "../../engine/images.ts";
import { imagePull } from "../../engine/image_pull.ts";
import { type Caller, mayDo } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { JobRun, NamedJobKind } from "../jobs/kind.ts";
import { startJob } from "../jobs/runner.ts";
import type { JobView } from "../jobs/view.ts";
import { assertRegistryReach, credentialsFor } from "./registries/access.ts";
import { imageNames } from "./images.ts";
import { recordPull } from "./pulled_digest.ts";
import { asJobError } from "./errors.ts";
import { createPullProgress } from "./pull_progress.ts";
import { parseImage } from "./reference.ts";

interface PullInput {
  /** As given, e.g. `nginx:1.27`. */
  image: string;
  /** E.g. `linux/arm64`; `null` for the host's. */
  platform: string | null;
}

interface PulledImage {
  imageId: string;
  repoDigests: string[];
}

/** Longest silence of the engine during a pull, in milliseconds. */
const SILENCE_MAX_MS = 30 * 60_000;

const pull = (deps: Deps, job: JobRun<PullInput>) => job.step("pull", () => pullImage(deps, job));

export const imagePullKind: NamedJobKind<PullInput, PulledImage> = {
  id: "image.pull",
  group: "Images",
  title: "Pull",
  running: "Pulling {target}",
  unit: "bytes",
  targetType: "image",
  role: "admin",
  permission: "images:write",
  run: pull,
  // The engine keeps complete layers, so that the pull continues where it was interrupted.
  recover: pull,
};

/**
 * Starts a pull. Its target is the canonical reference, so that two spellings of one image are not
 * pulled twice.
 *
 * @throws {AppError} `invalid` for an invalid reference, and for a registry on this host without an
 * entry, unless the caller may add one; `conflict` if the image is being pulled.
 */
export async function startPull(deps: Deps, caller: Caller, input: PullInput): Promise<JobView> {
  const image = parseImage(input.image);
  if (!mayDo(caller, "admin", "registries:write")) {
    await assertRegistryReach(deps, image, "body.image");
  }
  const target = canonicalReference(image);
  return startJob(deps, imagePullKind, { target, input, caller }).job;
}

/** Pulls an image and waits for it. @throws {AppError} With the engine's message. */
export async function pullImage(
  deps: Deps,
  { input: { image, platform }, progress, signal }: Pick<
    JobRun<PullInput>,
    "input" | "progress" | "signal"
  >,
): Promise<PulledImage> {
  const { engine } = deps;
  const progressOf = createPullProgress();
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expectMessage = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  };
  expectMessage();
  try {
    await imagePull(engine, image, {
      platform: platform ?? undefined,
      auth: credentialsFor(deps, parseReference(image)),
      signal: AbortSignal.any([signal, silence.signal]),
      onProgress(message) {
        expectMessage();
        progress(progressOf(message));
      },
    });
    const { Id, RepoDigests } = await imageInspect(engine, image, { signal });
    const imageId = fullImageId(Id);
    recordPull(deps, { image, imageId });
    return { imageId, repoDigests: imageNames(RepoDigests ?? []) };
  } catch (error) {
    if (silence.signal.aborted) {
      throw new AppError("bad_gateway", `Timeout while pulling image ${image}`, { cause: error });
    }
    throw asJobError(error, `Image ${image} could not be pulled`);
  } finally {
    clearTimeout(timer);
    deps.diskUsage.invalidate();
  }
}
