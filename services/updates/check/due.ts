/** When images are checked again. @module */

import { type CheckedImage, selectCheckedImages } from "../../../db/updates/images.ts";
import type { Deps } from "../../deps.ts";
import { readUpdateSettings } from "../settings.ts";
import { withServices } from "./service_images.ts";
import { type ImageInUse, imagesInUse, isCheckable, isWatched } from "./in_use.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Variation of the time between two checks, so that they do not stay together. */
const JITTER = 0.1;

/** When an image is checked again. */
export function nextCheckAt(
  { checkedAt, retryAt, jitter }: CheckedImage,
  intervalHours: number,
): Date {
  if (retryAt !== null) return new Date(retryAt);
  const factor = 1 + JITTER * (2 * jitter - 1);
  return new Date(Date.parse(checkedAt) + intervalHours * HOUR_MS * factor);
}

/**
 * The images that are due for a periodic check: those that containers use, unless their labels turn
 * checks off. None while periodic checks are off or the snapshot of the containers is not live.
 */
export async function dueImages(
  deps: Pick<Deps, "config" | "db" | "engine" | "inventory" | "now" | "swarm">,
): Promise<ImageInUse[]> {
  const { db, inventory, now } = deps;
  const { enabled, intervalHours } = readUpdateSettings(deps);
  if (!enabled || !inventory.live) return [];
  const at = now();
  const checked = new Map(selectCheckedImages(db).map((each) => [each.image, each]));
  const own = imagesInUse(inventory.list());
  const images = deps.swarm.wasActive() ? await withServices(deps, {}, own) : own;
  return images.filter((image) => {
    if (!isCheckable(image) || !isWatched(image)) return false;
    const last = checked.get(image.image);
    // After the clock was set back, the last check is in the future.
    return !last || new Date(last.checkedAt) > at || nextCheckAt(last, intervalHours) <= at;
  });
}
