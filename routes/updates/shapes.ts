/** Shapes that several endpoints of updates share. @module */

import * as z from "zod";

/** A day: longer than any reasonable start. */
const SECONDS_MAX = 86_400;

const MONITORS_MAX = 10;

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
