/**
 * /api/edition: the license in force, and how it changes.
 *
 * @module
 */

import * as z from "zod";
import { describeEdition } from "../../services/ce/edition.ts";
import { installLicense, removeLicense, startTrial } from "../../services/ce/licenses.ts";
import type { Deps } from "../../services/deps.ts";
import { EDITIONS } from "../../services/edition.ts";
import { LIMITED_RESOURCES } from "../../services/limits.ts";
import { endpoint } from "../endpoint.ts";
import { Timestamp } from "../shapes.ts";

const Edition = z.object({
  edition: z.enum(EDITIONS),
  expiresAt: Timestamp.nullable(),
  graceUntil: Timestamp.nullable().meta({
    description: "End of the grace period of an expired license",
  }),
  customer: z.string().nullable(),
  problem: z.string().nullable().meta({
    description: "Why a given license key is not in force",
  }),
  trial: z.object({
    startedAt: Timestamp,
    endsAt: Timestamp,
    active: z.boolean().meta({ description: "Whether it is what opens the edition now" }),
  }).nullable().meta({ description: "The trial of this installation; null until it is started" }),
  features: z.array(z.string()).meta({
    description: "Names of several words are listed with hyphens and with underscores",
  }),
  limits: z.record(z.enum(LIMITED_RESOURCES), z.int().nullable()).meta({
    description: "null is unlimited",
  }),
  usage: z.partialRecord(z.enum(LIMITED_RESOURCES), z.int()),
});

const ChangedEdition = Edition.extend({ ok: z.literal(true) });

export const editionEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/edition",
    summary: "Show the edition, its limits and what is used of them",
    role: "viewer",
    permission: "settings:read",
    returns: Edition,
  }, () => describeEdition(deps)),

  endpoint({
    method: "post",
    path: "/api/edition/license",
    summary: "Install a license key",
    description: "It is checked offline, kept as `license.key` in `DATA_DIR` in place of the " +
      "former one, and holds at once, without a restart.",
    role: "admin",
    permission: "settings:write",
    body: z.object({
      key: z.string().min(1).max(16_384).meta({
        description: "The license key as the vendor sent it",
        example: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJIYXJib3VyIEx0ZCJ9.c2lnbmF0dXJl",
      }),
    }),
    returns: ChangedEdition,
    failures: { 409: "The environment gives the license (LICENSE_KEY)" },
  }, async ({ body }) => ({ ...await installLicense(deps, body.key), ok: true as const })),

  endpoint({
    method: "delete",
    path: "/api/edition/license",
    summary: "Remove the installed license key",
    description: "Nothing is deleted of what was made under it; what exceeds the remaining " +
      "edition is closed until there is a license again.",
    role: "admin",
    permission: "settings:write",
    returns: ChangedEdition,
    failures: {
      404: "No license is installed",
      409: "The environment gives the license (LICENSE_KEY)",
    },
  }, () => ({ ...removeLicense(deps), ok: true as const })),

  endpoint({
    method: "post",
    path: "/api/edition/trial",
    summary: "Try the Enterprise edition for 30 days",
    description: "Once per installation. A license counts before it.",
    role: "admin",
    permission: "settings:write",
    returns: ChangedEdition,
    failures: { 409: "The trial was started before, or a license is in force" },
  }, () => ({ ...startTrial(deps), ok: true as const })),
];
