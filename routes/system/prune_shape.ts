/** Options of a prune of the engine. @module */

import * as z from "zod";
import { PRUNE_KINDS } from "../../services/images/prune.ts";

/** Limit of `olderThan`, in hours: ten years. */
const OLDER_THAN_MAX = 87_600;

export const pruneFields = {
  olderThanHours: z.number().min(0).max(OLDER_THAN_MAX).default(1).meta({
    description:
      "Keep items that were created, tagged, used or stopped within this many hours; 0 removes all",
  }),
  kinds: z.array(z.enum(PRUNE_KINDS)).min(1).max(PRUNE_KINDS.length).optional().meta({
    description: "Default: all except volumes. `volumes` requires `includeVolumes`",
  }),
  unusedImages: z.boolean().default(false).meta({
    description: "Remove all unused images, not only those without a tag",
  }),
  includeVolumes: z.boolean().default(false).meta({
    description: "Also remove all unused local volumes with their data",
  }),
};

/** Volumes must be asked for twice. */
export const saysVolumesTwice = (
  { kinds, includeVolumes }: { kinds?: string[] | undefined; includeVolumes: boolean },
): boolean => includeVolumes || !kinds?.includes("volumes");

export const NEEDS_INCLUDE_VOLUMES = {
  error: "volumes requires includeVolumes: true",
  path: ["kinds"],
};
