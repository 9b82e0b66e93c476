/** `from` and `to` of a query: a date or a time, in UTC, or Unix seconds. @module */

import * as z from "zod";

/** At least 9 digits (1973), so that a year is not read as seconds. */
const UNIX_SECONDS = /^\d{9,10}$/;

/** A date or a time, converted to UTC. A date stands for its first or its last millisecond. */
const moment = (ofDate: "first" | "last") =>
  z.union([z.iso.datetime({ offset: true }), z.iso.date(), z.string().regex(UNIX_SECONDS)], {
    error: "must be an ISO 8601 date or time such as 2026-01-31 or 2026-01-31T12:00:00Z, " +
      "or Unix seconds",
  }).transform((text, context) => {
    if (UNIX_SECONDS.test(text)) return new Date(Number(text) * 1000).toISOString();
    const isDate = text.length === "2026-01-31".length;
    const time = isDate ? `${text}T${ofDate === "first" ? "00:00:00.000" : "23:59:59.999"}Z` : text;
    const ms = Date.parse(time);
    // An offset can lead to a year outside 0000 to 9999.
    if (ms >= FIRST_MS && ms <= LAST_MS) return new Date(ms).toISOString();
    context.addIssue({ code: "custom", message: "must be between the years 0000 and 9999" });
    return z.NEVER;
  }).pipe(z.string());

const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

const DATE_NOTE = "ISO 8601 or Unix seconds; a time needs an offset";

export const From = moment("first").optional().meta({
  description: `Start of the range; a date stands for its start in UTC. ${DATE_NOTE}`,
  example: "2026-01-01",
});

export const To = moment("last").optional().meta({
  description: `End of the range; a date stands for its end in UTC. ${DATE_NOTE}`,
  example: "2026-01-31",
});

/** A check for queries with both. */
export const inOrder = {
  check: ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
    from === undefined || to === undefined || from <= to,
  fault: { error: "must not be before from", path: ["to"] },
};
