/**
 * Times that the engine reports. Images, volumes and clocks can hold any text or number, so a time
 * that cannot be true becomes `null` instead of an error or a year that no client can parse.
 *
 * @module
 */

/** The year 10000; later years need an extended ISO 8601 form that most clients refuse. */
const END_MS = Date.UTC(10_000, 0);

/**
 * Converts one of the engine's times.
 *
 * @param time RFC 3339 text, or Unix seconds.
 * @returns ISO 8601 with milliseconds in UTC; `null` for a missing or malformed time, for one
 * before 1970 (the engine writes "never" as the year 1) and for one after the year 9999.
 */
export function engineTime(time: string | number | null | undefined): string | null {
  if (time === null || time === undefined) return null;
  const ms = typeof time === "number" ? time * 1000 : Date.parse(time);
  return ms > 0 && ms < END_MS ? new Date(ms).toISOString() : null;
}
