/** Shapes that several endpoints share. @module */

import * as z from "zod";
import { EVENT_KIND_IDS } from "../../services/events/kinds/mod.ts";
import { OUTBOX_STATUSES } from "../../services/events/outbox_log.ts";
import { EDITIONS } from "../../services/edition.ts";
import { ISSUES_MAX } from "../../services/errors.ts";
import { limitedRecord } from "../../services/input/limited_record.ts";

/** An id or a name in a path. */
export const PathText = z.string().min(1).max(255);

/** Body of the toggle endpoints of CE and Pro. */
export const EnabledBody = z.object({ enabled: z.boolean() }).meta({ id: "EnabledBody" });

/** Optional body of the toggle endpoints of Enterprise. */
export const ToggleBody = z.object({
  enabled: z.boolean().optional().meta({
    description: "Default: the opposite of the current value",
  }),
}).meta({ id: "ToggleBody", example: { enabled: false } });

/** A name or title: one line that is not empty, without spaces around it. */
export const oneLine = (max: number) =>
  z.string().trim().min(1).max(max)
    .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), {
      error: "must be one line without control characters",
    });

/** A new name of a record. Responses have `z.string()`, as earlier versions stored other names. */
export const Name = oneLine(100);

export const Color = z.string()
  .regex(/^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, {
    error: "must be a color such as #0a7 or #00aa77",
  });

/** Kinds of events that a receiver gets. */
export const EventKinds = z.array(z.enum(["*", ...EVENT_KIND_IDS])).min(1).max(100).meta({
  description: "Kinds of events; `*` means all, including those of later versions",
});

/** `ok` of a response; handlers leave it out. */
const Ok = z.literal(true).prefault(true);

/** Response without data, for handlers that return nothing. */
export const Done = z.void().transform(() => ({})).pipe(
  z.object({ ok: Ok }).meta({ id: "Done", example: { ok: true } }),
);

/** Response with `ok` and little else. */
export const doneWith = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ok: Ok, ...shape });

/** A new name of a container, network or volume, as both engines accept it. */
export const EngineName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,254}$/, {
  error: "must begin with a letter or digit and have 2 to 255 letters, digits, dots, underscores " +
    "and hyphens",
});

/** Longest name and value of a label or option, and how many there may be. */
const PAIR_NAME_MAX = 255;
const PAIR_VALUE_MAX = 4_096;
const PAIRS_MAX = 100;

/** Labels and options of a new network or volume. */
export const EnginePairs = limitedRecord(
  z.string().regex(new RegExp(`^[^\\s=\\p{Cc}]{1,${PAIR_NAME_MAX}}$`, "u")),
  z.string().max(PAIR_VALUE_MAX),
  PAIRS_MAX,
);

/** The name of a driver or plugin of the engine. */
export const EngineDriver = z.string().regex(/^[a-zA-Z0-9][\w./:-]{0,254}$/, {
  error: "must be the name of a driver",
});

/** Failures of every operation on the container engine. */
export const ENGINE_FAILURES = {
  502: "The container engine failed",
  503: "The container engine cannot be reached",
};

export const ErrorBody = z.object({
  error: z.string().meta({
    description: "Human-readable reason",
    example: "body.name: is required",
  }),
  errors: z.array(z.object({
    path: z.string().meta({ example: "body.name" }),
    message: z.string().meta({ example: "is required" }),
  })).max(ISSUES_MAX).optional().meta({
    description: "All problems of an invalid request",
  }),
  code: z.literal("mfa_enrolment_required").optional().meta({
    description: "With 403: `MFA_REQUIRED` demands a second factor of this account first",
  }),
  diff: z.string().optional().meta({
    description: "Unified diff of what was changed since the caller read it",
  }),
  changes: z.array(z.object({
    kind: z.string(),
    name: z.string(),
    action: z.string(),
    reasons: z.array(z.object({
      path: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      text: z.string(),
    })),
  })).optional().meta({
    description: "Changes of a plan that the caller has not accepted",
  }),
}).meta({ id: "Error" });

/** Body of a 402 response. */
export const EditionLimitBody = z.object({
  error: z.string().meta({
    description: "Names the feature or, in parentheses, the resource, and the edition",
  }),
  current: z.int(),
  max: z.int(),
  currentEdition: z.enum(EDITIONS),
  upgradeUrl: z.url(),
}).meta({
  id: "EditionLimit",
  example: {
    error: "Edition limit reached (webhooks): the Community Edition allows 50; " +
      "delete one or upgrade",
    current: 50,
    max: 50,
    currentEdition: "ce",
    upgradeUrl: "https://longshore.example/editions",
  },
});

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({
  example: "2026-01-31T12:00:00.000Z",
});

/** A message in a delivery log. */
export const Delivery = z.object({
  id: z.string(),
  event: z.string().meta({ example: "container.down" }),
  status: z.enum(OUTBOX_STATUSES),
  attempts: z.int(),
  responseStatus: z.int().nullable(),
  error: z.string().nullable(),
  createdAt: Timestamp,
  lastAttemptAt: Timestamp.nullable(),
  nextAttemptAt: Timestamp.nullable(),
  sentAt: Timestamp.nullable(),
});

/** Of an object of the engine in a list. */
export const Warning = z.string().nullable().meta({
  description: "Why it is not shown in full, e.g. because of labels that are too large; null for " +
    "nearly all",
});

/** Later years have five digits, which `Timestamp` does not allow. */
const INSTANT_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A future time in a request, in any time zone. */
export const Instant = z.iso.datetime({ offset: true })
  // The format check has already reported what is not a time (NaN).
  .refine((text) => !(Date.parse(text) > INSTANT_MAX), {
    error: "must be before the year 10000 (UTC)",
  });

export const Patterns = z.array(z.string().min(1).max(255)).min(1).max(100);

/** Target of a rule or window; the type is `Target` in `services/access/target.ts`. */
export const Target = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("host") }),
  z.strictObject({
    kind: z.literal("containers"),
    containers: Patterns.optional().meta({
      description: "Names, in which `*` stands for any text",
      example: ["web*"],
    }),
    stacks: Patterns.optional().meta({ description: "Names of stacks, in the same way" }),
    labels: limitedRecord(z.string().min(1).max(255), z.string().max(4_096), 20).optional().meta({
      description: "Labels with their values, in the same way",
      example: { tier: "db" },
    }),
  }),
]).meta({
  id: "Target",
  description: "The host, or the containers for which every given field matches",
});

/** An error message without the given type, because every value of a query is text. */
const ofType = (message: string): z.core.$ZodErrorMap => ({ code, input }) =>
  code === "invalid_type" && input !== undefined ? message : undefined;

/** A whole number in a query. Without a fallback it is required. */
export function queryInteger({ min, max, fallback, description }: {
  min: number;
  max: number;
  fallback?: number;
  description?: string;
}) {
  const integer = z.int({ error: ofType("must be a whole number") }).min(min).max(max);
  const number = z.preprocess(
    (text) => typeof text === "string" && /^-?\d{1,15}$/.test(text) ? Number(text) : text,
    fallback === undefined ? integer : integer.default(fallback),
  );
  return description === undefined ? number : number.meta({ description });
}

const BOOLEANS: Record<string, boolean> = { true: true, false: false, "1": true, "0": false };

/** `true`, `false`, `1` or `0` in a query. Without a fallback it is required. */
export function queryBoolean({ fallback, description }: {
  fallback?: boolean;
  description?: string;
}) {
  const given = z.boolean({ error: ofType("must be true, false, 1 or 0") });
  const boolean = z.preprocess(
    (text) => typeof text === "string" ? BOOLEANS[text] ?? text : text,
    fallback === undefined ? given : given.default(fallback),
  );
  return description === undefined ? boolean : boolean.meta({ description });
}

/** `limit` and `offset` of a paginated list. */
export const pagingQuery = (fallback: number) => ({
  limit: queryInteger({ min: 1, max: 500, fallback, description: "Maximum number of entries" }),
  offset: queryInteger({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    fallback: 0,
    description: "Number of entries to skip",
  }),
});

/** A list with its total length and the position of the page. */
export const paged = <Shape extends z.ZodRawShape>(list: Shape) =>
  z.object({ ...list, total: z.int(), limit: z.int(), offset: z.int() });
