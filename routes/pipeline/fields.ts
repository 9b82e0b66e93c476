/** Names of the fields of a query or a form. @module */

import * as z from "zod";
import { InputError, ISSUES_MAX } from "../../services/errors.ts";

/** Names of the fields of a shape; none unless it is an object. */
export const fieldNames = (shape: z.ZodType | undefined): readonly string[] =>
  shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];

/**
 * Refuses repeated fields, of which different programs would use different ones.
 *
 * @param where Prefix for the paths of the issues, e.g. `"query"`.
 * @throws {InputError}
 */
export function assertNotRepeated(
  given: URLSearchParams,
  where: string,
  repeatable: readonly string[] = [],
): void {
  const issues = [...new Set(given.keys())].slice(0, ISSUES_MAX).flatMap((name) => {
    if (repeatable.includes(name)) return [];
    const { length } = given.getAll(name);
    const path = `${where}.${name.slice(0, 100)}`;
    return length > 1 ? [{ path, message: `given ${length} times, expected once` }] : [];
  });
  if (issues.length > 0) throw new InputError(issues);
}
