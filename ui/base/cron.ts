/** Cron expressions in forms. @module */

export const CRON_HINT =
  "Minute, hour, day of month, month, day of week: 0 3 * * mon-fri is 03:00 on weekdays";

/** Problem of an expression at first sight; the service checks its fields. */
export const cronProblem = (text: string): string | undefined =>
  text.trim() === "" || text.trim().split(/\s+/).length === 5
    ? undefined
    : "Must have five fields: minute, hour, day of month, month, day of week";
