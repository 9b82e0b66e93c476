/** Shapes that several endpoints of updates share. @module */

import * as z from "zod";
import { DATA_CHOICES } from "../../services/updates/labels.ts";

/** A day: longer than any reasonable start. */
const SECONDS_MAX = 86_400;

const MONITORS_MAX = 10;

/** Rehearsal of an update. */
export const REHEARSAL = {
  rehearse: z.boolean().optional().meta({
    description: "Whether the new image is tried out first: on a copy of the data, in a private " +
      "network without access to the outside, judged by the same rules. If it fails, nothing is " +
      "stopped or changed, and the image is blocked. Default: the label " +
      "`longshore.update.rehearse`, else the setting",
  }),
  rehearseOnly: z.boolean().default(false).meta({
    description: "Whether the job ends after the rehearsal, also if it succeeds",
  }),
};

/** Verification of a new container. */
export const Verification = z.object({
  stableSeconds: z.int().min(1).max(SECONDS_MAX).optional().meta({
    description:
      "How long the new container must run without a restart (default: the setting `stableSeconds`), or with a " +
      "health check be healthy (default: one interval of the check)",
  }),
  verifyTimeoutSeconds: z.int().min(1).max(SECONDS_MAX).optional().meta({
    description: "Default: the time after which the engine gives up on the health check, and at " +
      "least twice the longest time to healthy so far",
  }),
  logPatternMustNotAppear: z.string().min(1).max(200).optional().meta({
    description: "A regular expression (RE2) that no line of the new container's log may match; " +
      "requires `containers:logs`",
    example: "migration failed",
  }),
  monitors: z.array(z.string().min(1).max(100)).max(MONITORS_MAX).optional().meta({
    description:
      "Ids of uptime monitors (Pro): a check of each must succeed before the update does, " +
      "and the update fails at the deadline. These checks are not recorded",
  }),
});

/** Data of an update that fails. */
export const DataChoice = z.enum(DATA_CHOICES);

/** Parts that the plans of updates and deploys have in common. */
export const PLAN_PARTS = {
  warnings: z.array(z.string()),
  obstacles: z.array(z.object({
    message: z.string(),
    canForce: z.boolean().meta({ description: "Whether `force` ignores it" }),
  })),
  data: z.object({
    choice: DataChoice,
    target: z.string().nullable().meta({
      description: "Name of the backup target; null for the first one, which the update creates",
      example: "This host",
    }),
    volumes: z.array(z.object({
      name: z.string().meta({ example: "shop_data" }),
      size: z.int().nullable().meta({ description: "In bytes; null if it is not known" }),
    })).meta({ description: "Kept before the update with `undo`" }),
    keptDays: z.int().meta({ description: "Days for which a rollback can bring it back" }),
  }),
};

/** Rehearsal of a plan. */
export const PlannedRehearsal = z.object({
  containers: z.array(z.string()).meta({ description: "Those that run as copies" }),
  copied: z.array(z.string()).meta({
    description: "Volumes, and files and directories below `STACK_ROOTS`",
  }),
  leftOut: z.array(z.string()).meta({
    description: "Other files and directories of the host, which the copies do not have",
  }),
  obstacle: z.string().nullable().meta({ description: "Reason why it cannot be rehearsed" }),
}).nullable().meta({ description: "null if the update is not rehearsed" });
