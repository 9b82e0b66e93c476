/** Objects with any names, whose entries are counted before they are checked. @module */

import * as z from "zod";

/**
 * A record with at most `max` entries. The validator counts entries last: the names of a large
 * object would each be compared with a pattern first.
 */
export const limitedRecord = <Value extends z.ZodType>(
  name: z.ZodString,
  value: Value,
  max: number,
) =>
  z.preprocess((input, context) => {
    if (typeof input !== "object" || input === null || Object.keys(input).length <= max) {
      return input;
    }
    context.addIssue(`must have at most ${max} entries`);
    return z.NEVER;
  }, z.record(name, value));
