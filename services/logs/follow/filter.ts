/** Selects lines of a stream. @module */

import { foldCase } from "../search.ts";
import { compileLinearPattern } from "../../input/linear_pattern.ts";
import type { LogLineFields, LogStreamRequest } from "../open_streams.ts";

interface LineQuery {
  streams: readonly LogLineFields["stream"][];
  /** Any of these; default all, also lines without a level. */
  levels?: readonly string[] | undefined;
  /** Text, case-insensitive. */
  search?: string | undefined;
  /** RE2 pattern. */
  regex?: string | undefined;
}

/** A filter of lines; a slow one is run in slices. */
type LineFilter = NonNullable<LogStreamRequest["filter"]>;

/**
 * Returns the filter of a query; `undefined` if it selects every line.
 *
 * @throws {AppError} `invalid` for a refused pattern; see `compileLinearPattern()`.
 */
export async function createLineFilter(
  { streams, levels, search, regex }: LineQuery,
): Promise<LineFilter | undefined> {
  const filters: LineFilter["selects"][] = [];
  if (streams.length < 2) filters.push(({ stream }) => streams.includes(stream));
  if (levels) filters.push(({ level }) => level !== null && levels.includes(level));
  if (search !== undefined) {
    const folded = foldCase(search);
    filters.push(({ message }) => foldCase(message).includes(folded));
  }
  if (regex !== undefined) {
    const pattern = await compileLinearPattern(regex, { field: "query.regex" });
    filters.push(({ message }) => pattern.test(message));
  }
  if (filters.length === 0) return undefined;
  return {
    selects: (line) => filters.every((selects) => selects(line)),
    isSlow: regex !== undefined,
  };
}
