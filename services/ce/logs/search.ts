/**
 * Search in the lines of a log, done in slices so that everything else goes on meanwhile.
 *
 * @module
 */

import { compileLinearPattern } from "./regex/guard.ts";

export interface LogQuery {
  /** Text, or a pattern with `regex`. */
  query: string;
  regex: boolean;
  /** Lines before and after a match, 0 to 5. */
  context: number;
  /** Most matches that are given; default 500. */
  matchMax?: number;
  /** Longest work on the processor, in milliseconds; default 10 000. */
  budgetMs?: number;
  signal?: AbortSignal;
}

export interface LogMatch {
  /** Counted from 1. */
  lineNumber: number;
  line: string;
  /** The line with those around it, oldest first; fewer at either end of the log. */
  context: string[];
}

export interface LogSearchResult {
  query: string;
  regex: boolean;
  /** Lines that there were to search. */
  totalLines: number;
  /** Whether there may be more matches than those given. */
  truncated: boolean;
  matches: LogMatch[];
}

const MATCH_MAX = 500;

const BUDGET_MS = 10_000;

/** Most characters of an answer: what surrounds 500 long lines would be 100 MB. */
const ANSWER_MAX = 8 * 1024 * 1024;

/** Longest work before others have their turn, in milliseconds. */
const SLICE_MS = 8;

/**
 * Searches lines of the form `time text`. Without `regex` the text is looked for without regard to
 * case, in the whole line. A pattern is looked for in the whole line and then in the text alone,
 * so that `^` means the beginning of either. `context` of a match holds the line itself, too, as
 * `grep -C` shows it.
 *
 * The search ends early, and says so with `truncated`, after 500 matches, when the answer would
 * become too large, and when it has taken too long.
 *
 * @throws {AppError} `invalid` for a pattern that is no good (see `compileLinearPattern()`).
 * @throws What `signal` aborts with.
 */
export async function searchLines(
  lines: readonly string[],
  { query, regex, context, matchMax = MATCH_MAX, budgetMs = BUDGET_MS, signal }: LogQuery,
): Promise<LogSearchResult> {
  const probes = regex ? await patternProbes(query) : textProbes(query);
  const matches: LogMatch[] = [];
  const answer = (truncated: boolean) => ({
    query,
    regex,
    totalLines: lines.length,
    truncated,
    matches,
  });

  let characters = 0;
  let spentMs = 0;
  for (let index = 0, probe = 0; index < lines.length;) {
    await turn();
    signal?.throwIfAborted();
    const started = performance.now();
    do {
      const line = lines[index]!;
      if (probes[probe]!(line)) {
        if (matches.length === matchMax) return answer(true);
        const around = lines.slice(Math.max(0, index - context), index + context + 1);
        characters += around.reduce((sum, { length }) => sum + length, line.length);
        if (characters > ANSWER_MAX) return answer(true);
        matches.push({ lineNumber: index + 1, line, context: around });
        probe = probes.length;
      } else probe++;
      if (probe < probes.length) continue;
      index++;
      probe = 0;
    } while (index < lines.length && performance.now() - started < SLICE_MS);
    spentMs += performance.now() - started;
    if (spentMs > budgetMs && index < lines.length) return answer(true);
  }
  return answer(false);
}

/** A test of a line; the line matches when one of its probes says so. */
type Probe = (line: string) => boolean;

function textProbes(query: string): Probe[] {
  const wanted = folded(query);
  return [(line) => folded(line).includes(wanted)];
}

/** One case for all, whatever a letter's forms: by way of small letters, which are fewer. */
const folded = (text: string) => text.toLowerCase().toUpperCase();

async function patternProbes(query: string): Promise<Probe[]> {
  const pattern = await compileLinearPattern(query);
  const whole: Probe = (line) => pattern.test(line);
  const text: Probe = (line) => pattern.test(line.slice(line.indexOf(" ") + 1));
  // Without an anchor (`[^` is none) the text alone matches only where the whole line does.
  return /(?<!\[)\^|\\A/.test(query) ? [whole, text] : [whole];
}

let turns: Promise<void> = Promise.resolve();

/**
 * Waits until everything else that is ready has run. All searches stand in one line, so that many
 * of them together hold up the rest no longer than one. A timer, since `setImmediate()` and message
 * channels come back before the event loop looks for input (measured: requests wait a second).
 */
function turn(): Promise<void> {
  turns = turns.then(() => new Promise((resolve) => void setTimeout(resolve, 0)));
  return turns;
}
