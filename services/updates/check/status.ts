/** Whether containers run the image that their registry has now. @module */

import type { EqualDigest } from "../../../db/updates/equal_digests.ts";
import type { CheckedImage } from "../../../db/updates/images.ts";
import { type CheckableImage, type ImageInUse, type ImageUser, isCheckable } from "./in_use.ts";
import type { LocalImages } from "./local_images.ts";

/**
 * `pulled`: the newer image is on the host, and a container does not run it yet. `pinned`: the
 * reference is a digest or an image id. `local`: the image came from no registry. `unknown`: the last
 * check failed, or there was none.
 */
export const UPDATE_STATUSES = [
  "up_to_date",
  "update_available",
  "pulled",
  "pinned",
  "local",
  "unknown",
] as const;
export type UpdateStatus = (typeof UPDATE_STATUSES)[number];

export interface ImageStatus {
  status: UpdateStatus;
  /** Why it is `unknown`; else `null`. */
  reason: string | null;
  /** Of the image that the containers run, those without the newest one first. */
  digest: string | null;
  /** The containers that do not run the newest image. */
  outdated: readonly ImageUser[];
}

/** Results of checks that images are compared with. */
export interface Known {
  local: LocalImages;
  /** Whether a digest stands for the same content as an image, although the engine does not list it. */
  isEqual: (equal: EqualDigest) => boolean;
  /** The digests by which the registry knows an image that containers run; empty if it does not. */
  digestsOf: (image: CheckableImage, imageId: string) => string[];
}

const NOT_CHECKED = "not checked yet";

/** Compares the images that containers run with the last answer of the registry. */
export function imageStatus(
  image: ImageInUse,
  checked: CheckedImage | undefined,
  { local, isEqual, ...known }: Known,
): ImageStatus {
  const { reference } = image;
  if (!isCheckable(image)) {
    return { status: "pinned", reason: null, digest: reference?.digest ?? null, outdated: [] };
  }
  const latest = checked?.latestDigest ?? null;
  const digestsOf = (imageId: string) => known.digestsOf(image, imageId);
  const isLatest = (imageId: string) =>
    latest !== null &&
    (digestsOf(imageId).includes(latest) || isEqual({ imageId, digest: latest }));

  const pulled = image.users.filter(({ container }) => digestsOf(container.imageId).length > 0);
  const outdated = pulled.filter(({ container }) => !isLatest(container.imageId));
  const shown = outdated[0] ?? pulled[0];
  if (!shown && image.services.length > 0) return serviceStatus(image, checked);
  if (!shown) return { status: "local", reason: null, digest: null, outdated: [] };

  const digests = digestsOf(shown.container.imageId);
  const digest = latest !== null && digests.includes(latest) ? latest : digests.at(-1) ?? null;
  const reason = checked?.reason ?? (latest === null ? NOT_CHECKED : null);
  if (reason !== null) return { status: "unknown", reason, digest, outdated: [] };
  if (outdated.length === 0) return { status: "up_to_date", reason, digest, outdated };
  const namedId = local.idOf(image.image);
  const isPulled = namedId !== undefined && isLatest(namedId);
  return { status: isPulled ? "pulled" : "update_available", reason, digest, outdated };
}

/** The same for services whose tasks run on other nodes, by the digests that they have pinned. */
function serviceStatus({ services }: ImageInUse, checked: CheckedImage | undefined): ImageStatus {
  const latest = checked?.latestDigest ?? null;
  const old = services.find(({ digest }) => digest !== latest);
  const digest = (old ?? services[0])?.digest ?? null;
  const reason = checked?.reason ?? (latest === null ? NOT_CHECKED : null);
  const status = reason !== null ? "unknown" : old ? "update_available" : "up_to_date";
  return { status, reason, digest, outdated: [] };
}
