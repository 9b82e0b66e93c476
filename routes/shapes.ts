/**
 * Shapes that several endpoints share.
 *
 * @module
 */

import * as z from "zod";

/** The `:id` of a path. */
export const IdParams = z.object({ id: z.string().min(1).max(255) });

/** Body of the toggle endpoints. */
export const EnabledBody = z.object({ enabled: z.boolean() });

/** Answer of an endpoint that has nothing to tell but success. */
export const Done = z.object({ ok: z.literal(true) }).meta({ example: { ok: true } });
export const done = { ok: true } as const;

export const ErrorBody = z.object({
  error: z.string().meta({ description: "Human-readable reason", example: "body.name: Required" }),
});

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({
  example: "2026-01-31T12:00:00.000Z",
});

/** A whole number in a query; anything but digits is refused rather than guessed at. */
export function queryInteger({ min, max, fallback, description }: {
  min: number;
  max: number;
  fallback: number;
  description?: string;
}) {
  const number = z.preprocess(
    (text) => typeof text === "string" && /^-?\d{1,15}$/.test(text) ? Number(text) : text,
    z.int({ error: "must be a whole number" })
      .min(min, { error: `must be at least ${min}` })
      .max(max, { error: `must be at most ${max}` })
      .default(fallback),
  );
  return description === undefined ? number : number.meta({ description });
}

const BOOLEANS: Record<string, boolean> = { true: true, false: false, "1": true, "0": false };

/** `true`, `false`, `1` or `0` in a query. */
export function queryBoolean({ fallback, description }: {
  fallback: boolean;
  description?: string;
}) {
  const boolean = z.preprocess(
    (text) => typeof text === "string" ? BOOLEANS[text] ?? text : text,
    z.boolean({ error: "must be true, false, 1 or 0" }).default(fallback),
  );
  return description === undefined ? boolean : boolean.meta({ description });
}

/** `limit` and `offset` of a paginated list. */
export const pagingQuery = (fallback: number) => ({
  limit: queryInteger({ min: 1, max: 500, fallback, description: "Most entries of the answer" }),
  offset: queryInteger({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    fallback: 0,
    description: "Entries to leave out at the start",
  }),
});

/** A list with the numbers of its page. */
export const paged = <Shape extends z.ZodRawShape>(list: Shape) =>
  z.object({ ...list, total: z.int(), limit: z.int(), offset: z.int() });
