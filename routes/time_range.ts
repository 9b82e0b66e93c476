/**
 * `from` and `to` of a query: a date or a time, in UTC, or Unix seconds.
 *
 * @module
 */

import * as z from "zod";

/** Since 1973, so that a year is not read as a second. */
const UNIX_SECONDS = /^\d{9,10}$/;

/** A date or a time, converted to UTC. A date stands for its first or its last millisecond. */
const moment = (ofDate: "first" | "last") =>
  z.union([z.iso.datetime({ offset: true }), z.iso.date(), z.string().regex(UNIX_SECONDS)], {
    error: "must be a date or a time of ISO 8601, e.g. 2026-01-31 or 2026-01-31T12:00:00Z, " +
      "or Unix seconds",
  }).transform((text, context) => {
    if (UNIX_SECONDS.test(text)) return new Date(Number(text) * 1000).toISOString();
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

const DATE_NOTE = "ISO 8601 or Unix seconds; a time without an offset is refused";

export const From = moment("first").optional().meta({
  description: `Not older than this; a date is its beginning in UTC. ${DATE_NOTE}`,
  example: "2026-01-01",
});

export const To = moment("last").optional().meta({
  description: `Not newer than this; a date is its end in UTC. ${DATE_NOTE}`,
  example: "2026-01-31",
});

/** A check for queries that have both. */
export const inOrder = {
  check: ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
    from === undefined || to === undefined || from <= to,
  fault: { error: "must not be before from", path: ["to"] },
};
