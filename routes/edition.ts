/** /api/edition: the current edition and its license. @module */

import * as z from "zod";
import { describeEdition } from "../services/access/license/current.ts";
import { installLicense, removeLicense, startTrial } from "../services/access/license/licenses.ts";
import type { Deps } from "../services/deps.ts";
import { EDITIONS } from "../services/edition.ts";
import { LIMITED_RESOURCES } from "../services/access/license/limits.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Timestamp } from "./contract/shapes.ts";

const Edition = z.object({
  edition: z.enum(EDITIONS),
  expiresAt: Timestamp.nullable(),
  graceUntil: Timestamp.nullable().meta({
    description: "End of the grace period of an expired license",
  }),
  customer: z.string().nullable(),
  problem: z.string().nullable().meta({
    description: "Why the license key is not valid",
  }),
  protectedUntil: Timestamp.nullable().meta({
    description:
      "Until when an enforced IP allowlist and an enabled compliance log stay in force " +
      "after the Enterprise edition has ended",
  }),
  warning: z.string().nullable().meta({ description: "Consequences of the end of the edition" }),
  trial: z.object({
    startedAt: Timestamp,
    endsAt: Timestamp,
    active: z.boolean().meta({ description: "Whether the current edition comes from the trial" }),
  }).nullable().meta({ description: "The trial of this installation; null until it is started" }),
  features: z.array(z.string()).meta({
    description: "Names of several words are listed twice: with hyphens and with underscores",
  }),
  limits: z.record(z.enum(LIMITED_RESOURCES), z.int().nullable()).meta({
    description: "null is unlimited",
  }),
  usage: z.partialRecord(z.enum(LIMITED_RESOURCES), z.int()),
}).meta({ id: "Edition" });

const ChangedEdition = Edition.extend({ ok: z.literal(true) }).meta({ id: "EditionChange" });

export const editionEndpoints = (deps: Deps) => [
  endpoint("GET /api/edition", {
    operationId: "getEdition",
    summary: "Get edition, limits and usage",
    role: "viewer",
    permission: "settings:read",
    returns: Edition,
  }, () => describeEdition(deps)),

  endpoint("POST /api/edition/license", {
    operationId: "installLicense",
    summary: "Install a license key",
    description:
      "The key is verified offline, stored as `license.key` in `DATA_DIR` in place of the " +
      "previous one, and applies immediately.",
    role: "admin",
    body: z.object({
      key: z.string().min(1).max(16_384).meta({
        description: "The license key as the vendor sent it",
        example: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJIYXJib3VyIEx0ZCJ9.c2lnbmF0dXJl",
      }),
    }).meta({ id: "LicenseKey" }),
    returns: ChangedEdition,
    failures: { 409: "The license is set by LICENSE_KEY" },
  }, async ({ body }) => ({ ...await installLicense(deps, body.key), ok: true as const })),

  endpoint("DELETE /api/edition/license", {
    operationId: "removeLicense",
    summary: "Remove the installed license key",
    description:
      "Nothing is deleted. Features that exceed the remaining edition are unavailable until " +
      "a license is installed again.",
    role: "admin",
    returns: ChangedEdition,
    failures: {
      404: "No license is installed",
      409: "The license is set by LICENSE_KEY",
    },
  }, () => ({ ...removeLicense(deps), ok: true as const })),

  endpoint("POST /api/edition/trial", {
    operationId: "startTrial",
    summary: "Start the Enterprise trial",
    description: "Lasts 30 days, once per installation. A license takes precedence.",
    role: "admin",
    returns: ChangedEdition,
    failures: { 409: "The trial was already started, or a license is in force" },
  }, () => ({ ...startTrial(deps), ok: true as const })),
];
