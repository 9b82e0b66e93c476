/** Searches the lines of a log, in short slices that do not block the event loop. @module */

import { yieldToEventLoop } from "../waiting.ts";
import type { Limiter } from "../limiter.ts";
import { compileLinearPattern } from "../input/linear_pattern.ts";

interface LogQuery {
  /** Text, or a pattern if `regex` is set. */
  query: string;
  regex: boolean;
  /** Lines before and after a match, 0 to 5. */
  context: number;
  /** Limit of matches; default 500. */
  matchMax?: number;
  /** Limit of processor time, in milliseconds; default 10 000. */
  budgetMs?: number;
  /** Runs the slices; searches that share it take turns. */
  slices?: Limiter;
  signal?: AbortSignal;
}

interface LogMatch {
  /** Counted from 1. */
  lineNumber: number;
  line: string;
  /** The line and the lines around it, oldest first; fewer at the ends of the log. */
  context: string[];
}

export interface LogSearchResult {
  query: string;
  regex: boolean;
  /** Number of searched lines. */
  totalLines: number;
  /** Whether there may be more matches. */
  truncated: boolean;
  matches: LogMatch[];
}

const MATCH_MAX = 500;

const BUDGET_MS = 10_000;

/** Longest result in characters: 500 long lines with context would be 100 MB. */
const RESULT_MAX = 8 * 1024 * 1024;

/** Longest slice, in milliseconds. */
const SLICE_MS = 8;

/**
 * Searches lines of the form `time text`. Text is matched case-insensitively in the whole line. A
 * pattern is matched against the whole line and against the text alone, so that `^` matches the
 * beginning of either. `context` includes the line itself, as with `grep -C`.
 *
 * The search ends early, with `truncated`, after 500 matches, when the result would become too
 * large, and when the time limit is reached.
 *
 * @throws {AppError} `invalid` for a refused pattern; see `compileLinearPattern()`.
 * @throws The reason of `signal`.
 */
export async function searchLines(
  lines: readonly string[],
  {
    query,
    regex,
    context,
    matchMax = MATCH_MAX,
    budgetMs = BUDGET_MS,
    slices = (work) => work(),
    signal,
  }: LogQuery,
): Promise<LogSearchResult> {
  const predicates = regex ? await patternPredicates(query) : textPredicates(query);
  const matches: LogMatch[] = [];
  const result = (truncated: boolean) => ({
    query,
    regex,
    totalLines: lines.length,
    truncated,
    matches,
  });

  let characters = 0;
  let spentMs = 0;
  let index = 0;
  let tried = 0;
  const searchSlice = async (): Promise<LogSearchResult | undefined> => {
    await yieldToEventLoop();
    signal?.throwIfAborted();
    const started = performance.now();
    do {
      const line = lines[index]!;
      if (predicates[tried]!(line)) {
        if (matches.length === matchMax) return result(true);
        const around = lines.slice(Math.max(0, index - context), index + context + 1);
        characters += around.reduce((sum, { length }) => sum + length, line.length);
        if (characters > RESULT_MAX) return result(true);
        matches.push({ lineNumber: index + 1, line, context: around });
        tried = predicates.length;
      } else tried++;
      if (tried < predicates.length) continue;
      index++;
      tried = 0;
    } while (index < lines.length && performance.now() - started < SLICE_MS);
    spentMs += performance.now() - started;
    return spentMs > budgetMs && index < lines.length ? result(true) : undefined;
  };

  while (index < lines.length) {
    const truncated = await slices(searchSlice);
    if (truncated) return truncated;
  }
  return result(false);
}

/** A line matches if one of the predicates of the query returns true. */
type Predicate = (line: string) => boolean;

function textPredicates(query: string): Predicate[] {
  const folded = foldCase(query);
  return [(line) => foldCase(line).includes(folded)];
}

/** Maps all case variants of a letter to one: lower case first, because it has fewer variants. */
export const foldCase = (text: string) => text.toLowerCase().toUpperCase();

async function patternPredicates(query: string): Promise<Predicate[]> {
  const pattern = await compileLinearPattern(query);
  const whole: Predicate = (line) => pattern.test(line);
  const text: Predicate = (line) => pattern.test(line.slice(line.indexOf(" ") + 1));
  // Without an anchor (`[^` is not one) the text alone matches only if the whole line does.
  return /(?<!\[)\^|\\A/.test(query) ? [whole, text] : [whole];
}
