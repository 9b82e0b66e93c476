/**
 * /api/edition: the license in force.
 *
 * @module
 */

import { z } from "zod";
import { describeEdition } from "../../services/ce/edition.ts";
import type { Deps } from "../../services/deps.ts";
import { EDITIONS } from "../../services/edition.ts";
import { LIMITED_RESOURCES } from "../../services/limits.ts";
import { endpoint } from "../endpoint.ts";
import { Timestamp } from "../shapes.ts";

export const editionEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/edition",
    summary: "Show the edition, its limits and what is used of them",
    role: "viewer",
    permission: "settings:read",
    returns: z.object({
      edition: z.enum(EDITIONS),
      expiresAt: Timestamp.nullable(),
      graceUntil: Timestamp.nullable().meta({
        description: "End of the grace period of an expired license",
      }),
      customer: z.string().nullable(),
      problem: z.string().nullable().meta({
        description: "Why a given license key is not in force",
      }),
      features: z.array(z.string()),
      limits: z.record(z.enum(LIMITED_RESOURCES), z.int().nullable()).meta({
        description: "null is unlimited",
      }),
      usage: z.partialRecord(z.enum(LIMITED_RESOURCES), z.int()),
    }),
  }, () => describeEdition(deps)),
];
