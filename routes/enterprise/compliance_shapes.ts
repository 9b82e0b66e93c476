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
} from "../../services/enterprise/compliance_logs.ts";

export const Category = z.enum(CATEGORIES);
export const Severity = z.enum(SEVERITIES);
export const ActorType = z.enum(ACTOR_TYPES);
export const EntryOutcome = z.enum(OUTCOMES);

const Hash = z.string().meta({
  example: "sha256:0c5a5d2d6d5c1f3a4f0e8f4a0b0f6d3f7d8a4b0f9b0b3d2e3b1f7d6c5a4e3f21",
});

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
});

/** A date or a moment, made a moment in UTC. A date is its first millisecond, or its last. */
const moment = (ofDate: "first" | "last") =>
  z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: "must be a date or a time of ISO 8601, e.g. 2026-01-31 or 2026-01-31T12:00:00Z",
  }).transform((text, context) => {
    const isDate = text.length === "2026-01-31".length;
    const time = isDate ? `${text}T${ofDate === "first" ? "00:00:00.000" : "23:59:59.999"}Z` : text;
    const ms = Date.parse(time);
    // An offset may lead out of the years that are written with four digits.
    if (ms >= FIRST_MS && ms <= LAST_MS) return new Date(ms).toISOString();
    context.addIssue({ code: "custom", message: "must be in the years 0000 to 9999" });
    return z.NEVER;
  }).pipe(z.string());

const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

const DATE_NOTE = "ISO 8601; a time without an offset is refused";

export const From = moment("first").optional().meta({
  description: `Not older than this; a date is its beginning in UTC. ${DATE_NOTE}`,
  example: "2026-01-01",
});

export const To = moment("last").optional().meta({
  description: `Not newer than this; a date is its end in UTC. ${DATE_NOTE}`,
  example: "2026-01-31",
});

/** For queries with both. */
export const inOrder = {
  check: ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
    from === undefined || to === undefined || from <= to,
  fault: { error: "must not be before from", path: ["to"] },
};
