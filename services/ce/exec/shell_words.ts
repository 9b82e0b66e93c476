/**
 * A command line taken apart as a shell does, without a shell.
 *
 * @module
 */

import { AppError } from "../../errors.ts";

/** Between words. A line feed would begin a new command. */
const BLANKS = " \t";

/** What a shell would act on, unless it is quoted. */
const OPERATORS = new Set("|&;<>()`$\n\r");

/** The same inside of double quotes. */
const QUOTED_OPERATORS = new Set("`$");

/** What a backslash takes the meaning of inside of double quotes; before others it is itself. */
const QUOTED_ESCAPES = new Set('$`"\\');

/**
 * Splits a command into program and arguments by the quoting rules of POSIX shells: single quotes,
 * double quotes, backslash. Nothing is expanded: `*`, `?`, `~`, `#` and braces are ordinary
 * characters.
 *
 * @throws {AppError} `invalid` for an unfinished quotation, an empty command and NUL characters;
 * `forbidden` for what only a shell could do: pipes, redirections, several commands, variables,
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
      `${shown} is not allowed in a command: it is run without a shell. Quote it where it is meant literally`,
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
  if (!words[0]) throw new AppError("invalid", "body.command: Names no program");
  return words;
}

const unfinished = (what: string) =>
  new AppError("invalid", `body.command: Ends within a quotation (${what})`);
