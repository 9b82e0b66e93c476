/**
 * Patterns from requests. Dangerous ones are refused; the others run in an engine with linear time.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { judgeAmbiguity, type Verdict } from "./ambiguity.ts";
import { type Node, parsePattern, PatternError } from "./syntax.ts";

/** Longest pattern, in characters. */
const PATTERN_LENGTH_MAX = 200;

/**
 * Limit of instructions of a compiled pattern. The engine takes about 10 ns for each instruction and
 * character, so a line of 16 KiB takes at most about 35 ms.
 */
const INSTRUCTIONS_MAX = 220;

const REFUSALS: Record<Exclude<Verdict, "harmless">, string> = {
  "exponential":
    "Pattern can backtrack catastrophically: a repeated part can match the same text in many ways",
  "polynomial":
    "Pattern can backtrack catastrophically: too many repetitions can match the same text",
  "too large": "Pattern is too large: its repetitions add up to too many states",
};

/** A pattern that is safe to run. */
interface LinearPattern {
  /** Whether the pattern matches anywhere in the line. */
  test(line: string): boolean;
}

/**
 * Compiles a pattern of RE2's syntax (https://github.com/google/re2/wiki/Syntax).
 *
 * @throws {AppError} `invalid` for a pattern that has more than 200 characters, that the linear-time
 * engine does not support (e.g. lookaround, back-references), that could backtrack catastrophically
 * in other engines, or whose repetitions make it too large.
 */
export async function compileLinearPattern(
  pattern: string,
  { caseInsensitive = false, field = "query.q" }: {
    caseInsensitive?: boolean;
    /** Names the pattern in messages. */
    field?: string;
  } = {},
): Promise<LinearPattern> {
  try {
    return await compileSafely(pattern, caseInsensitive);
  } catch (error) {
    if (!(error instanceof RefusedPattern)) throw error;
    throw new AppError("invalid", `${field}: ${error.message}`, { cause: error.cause });
  }
}

/** @throws {RefusedPattern} */
async function compileSafely(pattern: string, caseInsensitive: boolean): Promise<LinearPattern> {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw refused(`Pattern is longer than ${PATTERN_LENGTH_MAX} characters`);
  }
  const verdict = judgeAmbiguity(parse(pattern, caseInsensitive));
  if (verdict !== "harmless") throw refused(REFUSALS[verdict]);

  const compiled = await compile(pattern, caseInsensitive);
  if (compiled.programSize() > INSTRUCTIONS_MAX) {
    throw refused(REFUSALS["too large"]);
  }
  // `test()` builds a deterministic automaton, which is faster on average, but ten times slower in
  // the worst case than `find()`.
  return { test: (line) => compiled.matcher(line).find() };
}

function parse(pattern: string, ignoreCase: boolean): Node {
  try {
    return parsePattern(pattern, { ignoreCase });
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw refused(`Invalid pattern: ${error.message}`, error);
  }
}

async function compile(pattern: string, caseInsensitive: boolean) {
  // Loaded on first use, because its tables take time to load and searches are rare.
  const { RE2JS, RE2JSException } = await import("re2js");
  try {
    return RE2JS.compile(pattern, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "");
    throw refused(`Invalid pattern: ${reason}`, error);
  }
}

/** The reason is the message. */
class RefusedPattern extends Error {
  override readonly name = "RefusedPattern";
}

const refused = (reason: string, cause?: Error) => new RefusedPattern(reason, { cause });
