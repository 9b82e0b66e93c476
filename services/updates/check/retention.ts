/** Forgets images that are no longer checked. @module */

import { deleteDigestsSeenBefore } from "../../../db/updates/digests.ts";
import { deleteImagesCheckedBefore } from "../../../db/updates/images.ts";
import type { Deps } from "../../deps.ts";

/** Long, because a digest that is seen again would count as new. */
const KEPT_MS = 365 * 24 * 60 * 60 * 1000;

export function sweepUpdates({ db, now }: Pick<Deps, "db" | "now">): void {
  const before = new Date(now().getTime() - KEPT_MS).toISOString();
  deleteImagesCheckedBefore(db, before);
  deleteDigestsSeenBefore(db, before);
}
