/** Patterns from requests, which run in an engine with linear time. @module */

import { AppError } from "../errors.ts";
import { hasNestedQuantifiers } from "./nested_quantifiers.ts";

/** Longest pattern, in characters. */
const PATTERN_LENGTH_MAX = 200;

/**
 * Limit of instructions of a compiled pattern. The engine takes about 10 ns for each instruction and
 * character, so a line of 16 KiB takes at most about 35 ms.
 */
const INSTRUCTIONS_MAX = 220;

/** Endings of the engine's messages about constructs that a linear-time engine cannot have. */
const UNSUPPORTED = /`\(\?(?:<?[=!]|>)|`\\[1-9k]`$/;

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
  const refused = (reason: string, cause?: Error) =>
    new AppError("invalid", `${field}: ${reason}`, { cause });
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw refused(`Pattern is longer than ${PATTERN_LENGTH_MAX} characters`);
  }
  if (hasNestedQuantifiers(pattern)) {
    throw refused(
      "Pattern can backtrack catastrophically: a repeated part can match the same text in many ways",
    );
  }
  // Loaded on first use, because its tables take time to load and searches are rare.
  const { RE2JS, RE2JSException } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
    if (compiled.programSize() > INSTRUCTIONS_MAX) {
      throw refused("Pattern is too large: its repetitions add up to too many states");
    }
    // `test()` builds a deterministic automaton, which is faster on average, but ten times slower in
    // the worst case than `find()`.
    return { test: (line) => compiled.matcher(line).find() };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "");
    const hint = UNSUPPORTED.test(reason)
      ? "; lookaround, atomic groups and back-references are not supported"
      : "";
    throw refused(`Invalid pattern: ${reason}${hint}`, error);
  }
}
