/** Shapes of the compliance log. @module */

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

/** Accepts any text, so that entries which were tampered with can be listed and verified. */
const storedEnum = (names: readonly [string, ...string[]]) =>
  z.string().meta({
    description: `One of ${names.join(", ")}; any text if the entry was tampered with`,
    example: names[0],
  });

/** A time that accepts any text, too. */
export const StoredTime = z.string().meta({
  description: "ISO 8601 in UTC with milliseconds; any text if the entry was tampered with",
  example: "2026-01-31T12:00:00.000Z",
});

export const Entry = z.object({
  id: z.string(),
  event_id: z.string().meta({ description: "Id of the event; unique per entry" }),
  category: storedEnum(CATEGORIES),
  severity: storedEnum(SEVERITIES),
  actor_id: z.string().meta({
    description: "Id of the user, `key`, `metrics`, `system`, or `anonymous` for an unknown caller",
  }),
  actor_type: storedEnum(ACTOR_TYPES),
  action: z.string().meta({ example: "containers.stop" }),
  resource_type: z.string().nullable().meta({ example: "containers" }),
  resource_id: z.string().nullable().meta({ example: "web" }),
  detail: z.string().nullable().meta({ example: "POST /api/containers/:id/stop: 200" }),
  outcome: storedEnum(OUTCOMES),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  recorded_by: z.string().nullable().meta({
    description: "Author of an entry created through this API; null if the service created it",
  }),
  previous_hash: Hash,
  entry_hash: Hash,
  created_at: StoredTime,
}).meta({ id: "ComplianceEntry" });
