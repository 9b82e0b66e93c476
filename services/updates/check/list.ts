/** Lists the images in use with their updates. @module */

import { digestKey, selectFirstSeen } from "../../../db/updates/digests.ts";
import { type NewerVersion, selectCheckedImages } from "../../../db/updates/images.ts";
import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Caller } from "../../access/caller.ts";
import { visibleTo } from "../../containers/visible.ts";
import type { Deps } from "../../deps.ts";
import { currentContainers, type ReadDeps } from "../../containers/reads.ts";
import type { UpdatePolicy } from "../labels.ts";
import { isBlocked } from "../run/blocked.ts";
import { gatePlatform } from "../run/platform.ts";
import { readUpdateSettings } from "../settings.ts";
import { tagPatternProblem } from "../tag_filter.ts";
import { createTagFilters, type TagFilters } from "./candidates.ts";
import { nextCheckAt } from "./due.ts";
import {
  type ImageInUse,
  type ImageService,
  imagesInUse,
  type ImageUser,
  isCheckable,
  isWatched,
} from "./in_use.ts";
import { readKnown } from "./known.ts";
import { withServices } from "./service_images.ts";
import { imageStatus, type UpdateStatus } from "./status.ts";

export { VERSION_LEVELS } from "../../../db/updates/images.ts";
export { UPDATE_STATUSES } from "./status.ts";

/** An image in use. Times are ISO 8601, UTC. */
export interface ImageUpdate {
  /** Canonical reference, or an image id. */
  image: string;
  registry: string | null;
  repository: string | null;
  tag: string | null;
  /** Of the image that the containers run. */
  digest: string | null;
  /** Digest on the registry, as of `lastGoodAt`. */
  latestDigest: string | null;
  status: UpdateStatus;
  /** Why the status is `unknown`, or why newer versions may be missing. */
  reason: string | null;
  /** When this service first saw `latestDigest`. */
  firstSeenAt: string | null;
  /** Newest first. */
  newerVersions: NewerVersion[];
  rateLimitRemaining: number | null;
  containers: UpdatedContainer[];
  /** Services of the swarm, by the digest that they have pinned. */
  services: (ImageService & { isOutdated: boolean })[];
  checkedAt: string | null;
  lastGoodAt: string | null;
  /** `null` unless the image is checked periodically. */
  nextCheckAt: string | null;
}

interface UpdatedContainer {
  id: string;
  name: string;
  stack: string | null;
  policy: UpdatePolicy;
  /** Whether `latestDigest` failed as its update and is not tried again. */
  blocked: boolean;
  /** Labels that are ignored, with the reason. */
  problems: string[];
}

/**
 * The images of the containers in the caller's scope, by reference.
 *
 * @param wanted Only images with this status; default: all.
 * @throws {EngineUnreachableError}
 */
export async function listUpdates(
  deps: ReadDeps & Pick<Deps, "config" | "db" | "swarm" | "updateGate">,
  caller: Pick<Caller, "scope">,
  wanted?: UpdateStatus,
): Promise<ImageUpdate[]> {
  const { db } = deps;
  const [containers, known] = await Promise.all([
    currentContainers(visibleTo(deps, caller)),
    readKnown(deps),
  ]);
  const settings = readUpdateSettings(deps);
  const checkedImages = new Map(selectCheckedImages(db).map((each) => [each.image, each]));
  const firstSeen = selectFirstSeen(db);
  const filters = createTagFilters();
  const used = imagesInUse(containers, known.local.labelsOf);
  const images = (await withServices(deps, caller, used)).map((image) => {
    const checked = checkedImages.get(image.image);
    return { image, checked, ...imageStatus(image, checked, known) };
  });

  return await Promise.all(
    images.filter(({ status }) => wanted === undefined || status === wanted).map(async (
      { image, checked, status, reason, digest },
    ): Promise<ImageUpdate> => {
      const { reference } = image;
      const latestDigest = checked?.latestDigest ?? null;
      const isPeriodic = settings.enabled && isCheckable(image) && isWatched(image) &&
        status !== "local";
      return {
        image: image.image,
        registry: reference?.registry ?? null,
        repository: reference?.repository ?? null,
        tag: reference ? reference.tag ?? (reference.digest ? null : "latest") : null,
        digest,
        latestDigest,
        status,
        reason: reason ?? checked?.versionsReason ?? null,
        firstSeenAt: latestDigest === null
          ? null
          : firstSeen.get(digestKey({ image: image.image, digest: latestDigest })) ?? null,
        newerVersions: await acceptedVersions(image, checked?.newerVersions ?? [], filters),
        rateLimitRemaining: checked?.rateLimitRemaining ?? null,
        containers: await Promise.all(
          image.users.map((user) =>
            isBlockedFor(deps, user, latestDigest).then((blocked) =>
              updatedContainer(user, { policy: settings.policy, blocked })
            )
          ),
        ),
        services: image.services.map(({ name, stack, digest }) => ({
          name,
          stack,
          digest,
          isOutdated: latestDigest !== null && digest !== latestDigest,
        })),
        checkedAt: checked?.checkedAt ?? null,
        lastGoodAt: checked?.lastGoodAt ?? null,
        nextCheckAt: isPeriodic && checked
          ? nextCheckAt(checked, settings.intervalHours).toISOString()
          : null,
      };
    }),
  );
}

/** Whether an image failed on the container, or the fleet has blocked it. */
async function isBlockedFor(
  { db, engine, updateGate }: Pick<Deps, "db" | "engine" | "updateGate">,
  { container: { name, imageId } }: ImageUser,
  digest: string | null,
): Promise<boolean> {
  if (digest === null) return false;
  if (isBlocked({ db }, name, digest)) return true;
  const platforms = updateGate.platformsOf(digest);
  if (platforms.length === 0) return false;
  const image = await ifThere(imageInspect(engine, imageId));
  return image !== undefined && platforms.includes(gatePlatform(image));
}

/** The versions whose tags at least one container accepts. */
async function acceptedVersions(
  { users }: ImageInUse,
  versions: NewerVersion[],
  filters: TagFilters,
): Promise<NewerVersion[]> {
  if (versions.length === 0) return versions;
  const accept = await Promise.all(users.map(({ labels }) => filters(labels)));
  return versions.filter(({ tag }) => accept.some((accepts) => accepts(tag)));
}

async function updatedContainer(
  { container: { id, name }, stack, labels }: ImageUser,
  { policy, blocked }: Pick<UpdatedContainer, "policy" | "blocked">,
): Promise<UpdatedContainer> {
  const problem = labels.tags && await tagPatternProblem(labels.tags);
  return {
    id,
    name,
    stack,
    policy: labels.policy ?? policy,
    blocked,
    problems: problem === undefined ? labels.problems : [...labels.problems, problem],
  };
}
