/** Asks registries for the images that containers use. @module */

import {
  deleteDigestsOf,
  extendLatestDigest,
  selectSeenDigest,
  updateDigestAnnounced,
} from "../../../db/updates/digests.ts";
import {
  type CheckedImage,
  replaceCheckedImage,
  selectCheckedImage,
} from "../../../db/updates/images.ts";
import { canonicalReference } from "../../../engine/image_reference.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { withTimeLimit } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { emit } from "../../events/emit.ts";
import { errorFields } from "../../log.ts";
import { RegistryError } from "../../images/registries/client.ts";
import { readTags } from "../../images/registries/tags.ts";
import { CheckTimeout, describeFailure, failedCheck } from "./failure.ts";
import { createTagFilters, newestAccepted, type TagFilters } from "./candidates.ts";
import { compareWithIndex, recordDigest } from "./digests.ts";
import {
  type CheckableImage,
  type ImageInUse,
  type ImageUser,
  isCheckable,
  wantsVersions,
  withLabels,
} from "./in_use.ts";
import { forgetRemovedImages, readKnown } from "./known.ts";
import { type ImageStatus, imageStatus, type Known, type UpdateStatus } from "./status.ts";
import { newerVersions } from "./versions.ts";

/** Parallel checks; the client limits the requests to one registry. */
const CHECKS_MAX = 8;

/** Time limit of the check of one image with all its requests, in milliseconds. */
const IMAGE_MS = 5 * 60_000;

interface CheckOptions {
  /** Lists newer versions of all images, not only of those whose containers have a version policy. */
  newerVersions?: boolean | undefined;
  /** Time limit of each image, in milliseconds; default: five minutes. */
  imageMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called before each check, and at the end without an image. */
  onProgress?:
    | ((progress: { done: number; total: number; image: string | null }) => void)
    | undefined;
}

/** Counts of images. */
export interface CheckSummary {
  checked: number;
  updateAvailable: number;
  /** Their last good answers are kept. */
  failed: number;
}

/**
 * Checks images once each and stores the answers. Images that came from no registry, and those with
 * a digest, are skipped. Any other failure is that of its image.
 *
 * @throws {EngineUnreachableError}
 * @throws The reason of `signal`.
 */
export async function checkImages(
  deps: Deps,
  images: readonly ImageInUse[],
  options: CheckOptions = {},
): Promise<CheckSummary> {
  const { signal, onProgress = () => {} } = options;
  const known = await readKnown(deps, signal);
  forgetRemovedImages(deps, known);
  const context = { ...options, known, filters: createTagFilters() };
  const checkable = images.filter(isCheckable)
    .map((image) => withLabels(image, known.local.labelsOf));
  const isLocal = (image: ImageInUse) => imageStatus(image, undefined, known).status === "local";
  checkable.filter(isLocal).forEach((image) => recordLocal(deps, image));
  const waiting = checkable.filter((image) => !isLocal(image));
  const total = waiting.length;
  const summary: CheckSummary = { checked: 0, updateAvailable: 0, failed: 0 };

  const checkNext = async () => {
    for (let image = waiting.shift(); image; image = waiting.shift()) {
      signal?.throwIfAborted();
      onProgress({ done: summary.checked, total, image: image.image });
      const status = await checkAlone(deps, image, context);
      summary.checked++;
      if (status === "unknown") summary.failed++;
      if (status === "update_available" || status === "pulled") summary.updateAvailable++;
    }
  };
  await Promise.all(Array.from({ length: CHECKS_MAX }, checkNext));
  onProgress({ done: total, total, image: null });
  return summary;
}

/** A registry must not learn the names of images that came from none. */
function recordLocal({ db, now }: Deps, { image }: ImageInUse): void {
  replaceCheckedImage(db, {
    image,
    latestDigest: null,
    newerVersions: [],
    versionsReason: null,
    reason: null,
    rateLimitRemaining: null,
    checkedAt: now().toISOString(),
    lastGoodAt: null,
    retryAt: null,
    jitter: Math.random(),
  });
}

interface CheckContext extends CheckOptions {
  known: Known;
  filters: TagFilters;
}

/** Checks an image so that no failure, not even a defect, ends the checks of others. */
async function checkAlone(
  deps: Deps,
  image: CheckableImage,
  context: CheckContext,
): Promise<UpdateStatus> {
  const { imageMs: timeoutMs = IMAGE_MS, signal } = context;
  const timeoutError = () => new CheckTimeout(timeoutMs);
  try {
    return await withTimeLimit({ timeoutMs, timeoutError, signal }, async (limit) => {
      const { status } = await checkImage(deps, image, { ...context, signal: limit });
      return status;
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof EngineUnreachableError) throw error;
    const fields = { image: image.image, ...errorFields(error) };
    deps.log[error instanceof CheckTimeout ? "warn" : "error"]("check of an image failed", fields);
    replaceCheckedImage(deps.db, failedCheck(deps, image.image, error));
    return "unknown";
  }
}

async function checkImage(
  deps: Deps,
  image: CheckableImage,
  context: CheckContext,
): Promise<ImageStatus> {
  const before = selectCheckedImage(deps.db, image.image);
  const checked = await askRegistry(deps, image, before, context);
  context.signal?.throwIfAborted();
  replaceCheckedImage(deps.db, checked);
  const status = imageStatus(image, checked, context.known);
  const outdated = status.outdated.filter(isInterested);
  if (checked.latestDigest !== null && outdated.length > 0) {
    announce(deps, image, { image: image.image, digest: checked.latestDigest, users: outdated });
  } else if (checked.latestDigest !== null && status.status === "update_available") {
    announce(deps, image, { image: image.image, digest: checked.latestDigest, users: [] });
  }
  if (checked.reason === null) {
    await checkCandidates(deps, image, { checked, since: before?.lastGoodAt }, context);
  }
  return status;
}

/** Returns the answer of the registry; after a failure, the last good answer with the reason. */
async function askRegistry(
  deps: Deps,
  image: CheckableImage,
  before: CheckedImage | undefined,
  context: CheckContext,
): Promise<CheckedImage> {
  const { now } = deps;
  const { signal } = context;
  const checkedAt = now().toISOString();
  try {
    const isKnown = (digest: string) =>
      image.users.some(({ container: { imageId } }) =>
        context.known.digestsOf(image, imageId).includes(digest)
      );
    const { digest, rateLimitRemaining } = await recordDigest(deps, image.reference, {
      isKnown,
      signal,
    });
    await compareWithIndex(deps, image, digest, context);
    return {
      image: image.image,
      checkedAt,
      jitter: Math.random(),
      latestDigest: digest,
      ...await findVersions(deps, image, before, context),
      reason: null,
      rateLimitRemaining: rateLimitRemaining ?? null,
      lastGoodAt: checkedAt,
      retryAt: null,
    };
  } catch (error) {
    const isExpected = error instanceof RegistryError || error instanceof AppError;
    if (!isExpected) throw error;
    // A tag that was removed begins to count again when it returns.
    if (error instanceof RegistryError && error.reason === "not_found") {
      deleteDigestsOf(deps.db, image.image);
    }
    return failedCheck(deps, image.image, error);
  }
}

type Versions = Pick<CheckedImage, "newerVersions" | "versionsReason">;

/** Newer versions, if they are of interest; those known before stay if tags cannot be listed. */
async function findVersions(
  deps: Deps,
  image: CheckableImage,
  before: CheckedImage | undefined,
  { newerVersions: isRequested = false, signal }: CheckContext,
): Promise<Versions> {
  const known = before?.newerVersions ?? [];
  if (!isRequested && !wantsVersions(image)) {
    return { newerVersions: known, versionsReason: before?.versionsReason ?? null };
  }
  const versions = newerVersions(image.reference.tag ?? "latest");
  if (!versions) return { newerVersions: [], versionsReason: null };
  try {
    const gap = await readTags(deps, image.reference, versions.add, { signal });
    if (gap !== undefined) known.forEach(({ tag }) => versions.add(tag));
    return {
      newerVersions: versions.list(),
      versionsReason: gap === undefined ? null : `the list of tags is incomplete: ${gap}`,
    };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return {
      newerVersions: known,
      versionsReason: `the tags could not be listed: ${describeFailure(error)}`,
    };
  }
}

/** Looks up the digests of the versions that labels accept, so that their age is known. */
async function checkCandidates(
  deps: Deps,
  image: CheckableImage,
  { checked: { newerVersions }, since }: {
    checked: CheckedImage;
    /** Other versions may have been the newest ones then. */
    since: string | null | undefined;
  },
  { filters, signal }: CheckContext,
): Promise<void> {
  const users = new Map<string, ImageUser[]>();
  for (const user of image.users.filter(isInterested)) {
    const version = await newestAccepted(user.labels, newerVersions, filters);
    if (version) users.set(version.tag, [...users.get(version.tag) ?? [], user]);
  }
  for (const [tag, interested] of users) {
    const reference = { ...image.reference, tag };
    const candidate = canonicalReference(reference);
    try {
      const { digest } = await recordDigest(deps, reference, { since, signal });
      announce(deps, image, { image: candidate, digest, users: interested });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      if (error.reason === "not_found") deleteDigestsOf(deps.db, candidate);
      else extendLatestDigest(deps.db, { image: candidate, at: deps.now().toISOString() });
      deps.log.debug("failed to check a version", {
        image: candidate,
        reason: describeFailure(error),
      });
    }
  }
}

const isInterested = ({ labels }: ImageUser) => labels.policy !== "off";

/** Emits the event of an image and digest once. During maintenance it waits for a later check. */
function announce(
  deps: Deps,
  { image: current, services }: ImageInUse,
  { image, digest, users }: { image: string; digest: string; users: readonly ImageUser[] },
): void {
  const { db, maintenance, now } = deps;
  const seen = selectSeenDigest(db, { image, digest });
  const isPaused = maintenance.active ||
    (users.length > 0 && users.every(({ container }) => maintenance.includes(container)));
  if (isPaused || !seen || seen.announcedAt !== null) return;
  const data = {
    image,
    currentImage: current,
    digest,
    firstSeenAt: seen.firstSeenAt,
    containers: users.length > 0
      ? users.map(({ container }) => container.name)
      : services.filter((each) => each.digest !== digest).map(({ name }) => name),
  };
  emit(deps, "image.update_available", data, () => {
    updateDigestAnnounced(db, { image, digest, at: now().toISOString() });
  });
}
