/**
 * Shapes of the compliance log.
 *
 * @module
 */

import * as z from "zod";
import {
  ACTOR_TYPES,
  CATEGORIES,
  OUTCOMES,
  SEVERITIES,
} from "../../../services/enterprise/compliance/logs.ts";

export const Category = z.enum(CATEGORIES);
export const Severity = z.enum(SEVERITIES);
export const ActorType = z.enum(ACTOR_TYPES);
export const EntryOutcome = z.enum(OUTCOMES);

export const HASH_EXAMPLE =
  "sha256:0c5a5d2d6d5c1f3a4f0e8f4a0b0f6d3f7d8a4b0f9b0b3d2e3b1f7d6c5a4e3f21";

export const Hash = z.string().meta({ example: HASH_EXAMPLE });

/**
 * Answers take any text: whoever changes the database file may put anything there, and the answer
 * that an entry is not what was written has to get out.
 */
const oneOf = (names: readonly [string, ...string[]]) =>
  z.string().meta({
    description: `One of ${names.join(", ")}; any text where somebody tampered with the entry`,
    example: names[0],
  });

/** The same of a time. */
export const StoredTime = z.string().meta({
  description: "ISO 8601 in UTC with milliseconds; any text where somebody tampered with the entry",
  example: "2026-01-31T12:00:00.000Z",
});

export const Entry = z.object({
  id: z.string(),
  event_id: z.string().meta({ description: "Of what happened; one per entry" }),
  category: oneOf(CATEGORIES),
  severity: oneOf(SEVERITIES),
  actor_id: z.string().meta({
    description: "Id of the user, `key`, `metrics`, `system`, or `anonymous` for who is not known",
  }),
  actor_type: oneOf(ACTOR_TYPES),
  action: z.string().meta({ example: "containers.stop" }),
  resource_type: z.string().nullable().meta({ example: "containers" }),
  resource_id: z.string().nullable().meta({ example: "web" }),
  detail: z.string().nullable().meta({ example: "POST /api/containers/:id/stop: 200" }),
  outcome: oneOf(OUTCOMES),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  recorded_by: z.string().nullable().meta({
    description: "Who wrote the entry through this API; null where the service wrote it itself",
  }),
  previous_hash: Hash,
  entry_hash: Hash,
  created_at: StoredTime,
}).meta({ id: "ComplianceEntry" });
