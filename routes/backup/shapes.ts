/** Shapes that several endpoints of backups share. @module */

import * as z from "zod";

export const SnapshotId = z.string().regex(/^[0-9a-f]{8,64}$/).meta({
  description: "Of restic, or at least its first 8 digits",
  example: "40dc1520",
});

export const TargetName = z.string().min(1).max(100).meta({
  description: "Id or name of a target; default: the default one",
});
