/** Shapes of backups that several endpoints share. @module */

import * as z from "zod";
import type { KeepRules } from "../../services/backup/restic/forget.ts";
import { definedFields } from "../../services/change.ts";
import { MODES } from "../../services/snapshots/modes.ts";

export const SnapshotId = z.string().regex(/^[0-9a-f]{8,64}$/, {
  error: "must be 8 to 64 hexadecimal digits",
})
  .meta({
    description: "Of restic, or at least its first 8 digits",
    example: "40dc1520",
  });

export const SnapshotParams = z.object({ id: SnapshotId });

export const SnapshotPath = z.string().min(1).max(8_192).startsWith("/").meta({
  description: "In the snapshot, as lists of files give it",
  example: "/volumes/shop_data/app.db",
});

const VOLUMES_MAX = 100;

export const TargetName = z.string().min(1).max(100).meta({
  description: "Id or name of a target; default: the default one",
});

export const TargetQuery = z.object({ target: TargetName.optional() });

export const Note = z.string().max(200);

export const VolumeName = z.string().min(1).max(255).meta({ example: "shop_data" });

export const Volumes = z.array(VolumeName).min(1).max(VOLUMES_MAX).meta({
  description: "With the containers that use them",
});

export const Mode = z.enum(MODES).meta({
  description: "stop: containers that write are stopped meanwhile; pause: they are paused; " +
    "hooks: databases are dumped, and commands of labels run before and after; live: nothing, so " +
    "that files may be of different moments. Default: the label `longshore.backup`, else the " +
    "setting of the stack, else `hooks` if all of them are recognized or have hooks, else `stop`",
});

export const IncludeSharedUsers = z.boolean().meta({
  description: "Whether containers outside of the stack that use the same volumes are stopped, too",
});

const Keep = z.int().min(1).max(10_000).optional();

export const Rules = z.strictObject({
  last: Keep,
  hourly: Keep,
  daily: Keep,
  weekly: Keep,
  monthly: Keep,
  yearly: Keep,
  within: z.strictObject({ years: Keep, months: Keep, days: Keep, hours: Keep }).optional(),
}).meta({
  id: "BackupKeepRules",
  description:
    "Snapshots to keep, with the meaning of restic's `--keep-` options; without any, all stay",
  example: { last: 3, daily: 7, weekly: 4 },
});

export const MaxUnusedPercent = z.number().min(0).max(100).meta({
  description: "Unused part of the repository that may stay. Default: 5; 0 removes all",
});

/** Rules that are not given are left out. */
export const rulesOf = ({ within, ...counts }: z.output<typeof Rules>): KeepRules => ({
  ...definedFields(counts),
  ...(within && { within: definedFields(within) }),
});

/** Of reads of a snapshot. */
export const SNAPSHOT_FAILURES = {
  404: "The snapshot, a path in it or the target does not exist",
  409: "The target cannot be used, or the snapshot is damaged",
  502: "The target does not answer",
} as const;
