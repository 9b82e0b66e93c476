/** Splits a command line into words as a shell does, without a shell. @module */

import { AppError } from "../../errors.ts";

/** Separators of words. A line feed is an operator: it would start a new command. */
const BLANKS = " \t";

/** Characters with a meaning to a shell, unless quoted. */
const OPERATORS = new Set("|&;<>()`$\n\r");

/** Characters with a meaning to a shell inside double quotes. */
const QUOTED_OPERATORS = new Set("`$");

/** Characters that a backslash escapes inside double quotes; before others it is literal. */
const QUOTED_ESCAPES = new Set('$`"\\');

/**
 * Splits a command into program and arguments by the quoting rules of POSIX shells: single quotes,
 * double quotes, backslash. Nothing is expanded: `*`, `?`, `~`, `#` and braces are literal.
 *
 * @throws {AppError} `invalid` for an unclosed quotation, an empty command and NUL characters;
 * `forbidden` for what needs a shell: pipes, redirections, several commands, variables,
 * substitutions.
 */
export function splitWords(command: string): string[] {
  if (command.includes("\0")) {
    throw new AppError("invalid", "body.command: Contains a NUL character");
  }
  const words: string[] = [];
  let word: string | undefined;
  const refuse = (char: string) => {
    const shown = char === "\n" || char === "\r" ? "A line break" : char;
    throw new AppError(
      "forbidden",
      `${shown} is not allowed: commands run without a shell; quote it to pass it literally`,
    );
  };

  for (let at = 0; at < command.length; at++) {
    const char = command[at]!;
    if (BLANKS.includes(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= "";
    if (char === "'") {
      const end = command.indexOf("'", at + 1);
      if (end < 0) throw unfinished("single quote");
      word += command.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      for (at++; command[at] !== '"'; at++) {
        const quoted = command[at];
        if (quoted === undefined) throw unfinished("double quote");
        if (QUOTED_OPERATORS.has(quoted)) refuse(quoted);
        if (quoted === "\\" && QUOTED_ESCAPES.has(command[at + 1] ?? "")) at++;
        word += command[at];
      }
    } else if (char === "\\") {
      at++;
      if (at === command.length) throw unfinished("backslash");
      word += command[at];
    } else {
      if (OPERATORS.has(char)) refuse(char);
      word += char;
    }
  }
  if (word !== undefined) words.push(word);
  if (!words[0]) throw new AppError("invalid", "body.command: No program given");
  return words;
}

const unfinished = (what: string) =>
  new AppError("invalid", `body.command: Unclosed quotation (${what})`);
