/** Splits a pasted command line into the words that a shell would pass to `docker`. @module */

import { AppError } from "../../errors.ts";
import { splitWords } from "../load/values.ts";

/** Characters that end or connect commands, unless quoted. */
const OPERATORS = "|&;<>`";

/** `$`, or `#` of the administrator, which is otherwise a comment. */
const PROMPT = /^\s*(\$|#(?=[ \t]+(sudo|docker|podman|nerdctl)\s))\s+/;

/** Stands for a `$` that a shell does not expand. No text has this private character. */
const LITERAL_DOLLAR = "\uE000";

/** The current directory as a shell writes it; relative paths of a Compose file start there as well. */
const CURRENT_DIRECTORY = /^\$(\(pwd\)|\{PWD\}|PWD\b)/;

/**
 * The words of a command, which ends at the first line break without a backslash. Comments are left
 * out, as a shell does. A variable of the shell stays one, as `${NAME}` of the Compose file, and
 * a `$` that the shell leaves alone becomes `$$`.
 *
 * @throws {AppError} `invalid` for an open quote, several commands, pipes and substitutions.
 */
export function commandWords(command: string): string[] {
  try {
    return splitWords(withComposeVariables(command.replace(PROMPT, "")))
      .map((word) => word.replaceAll(LITERAL_DOLLAR, "$$$$"));
  } catch (error) {
    throw error instanceof AppError
      ? error
      : new AppError("invalid", `body.command: ${(error as Error).message}`);
  }
}

function withComposeVariables(command: string): string {
  let quote: string | undefined;
  let text = "";
  /** Start of the current word in `text`. */
  let wordAt = 0;
  for (let at = 0; at < command.length; at++) {
    const char = command[at]!;
    if (char === "\\" && quote !== "'") {
      const next = command[++at] ?? "";
      if (next === "$") text += LITERAL_DOLLAR;
      // Windows ends its lines with two characters.
      else if (next === "\r" && command[at + 1] === "\n") at++;
      else if (next !== "\n") text += char + next;
      continue;
    }
    if (quote === undefined && char === "#" && text.length === wordAt) {
      while (at + 1 < command.length && !isLineBreak(command[at + 1]!)) at++;
      continue;
    }
    if (quote === undefined && /[ \t\r\n]/.test(char)) {
      if (isLineBreak(char) && text !== "") {
        assertNoCommand(command.slice(at));
        break;
      }
      if (text !== "") text += " ";
      wordAt = text.length;
      continue;
    }
    if ((char === "'" || char === '"') && (quote === undefined || quote === char)) {
      quote = quote === undefined ? char : undefined;
    } else if (quote === undefined && OPERATORS.includes(char)) {
      throw refused(`has an unquoted ${char}`);
    } else if (char === "$") {
      if (quote === "'") {
        text += LITERAL_DOLLAR;
        continue;
      }
      const [directory] = CURRENT_DIRECTORY.exec(command.slice(at, at + 8)) ?? [];
      if (directory !== undefined) {
        text += ".";
        at += directory.length - 1;
        continue;
      }
      if (command[at + 1] === "(") throw refused("has $(...)");
    }
    text += char;
  }
  return text;
}

const isLineBreak = (char: string) => char === "\n" || char === "\r";

/** @throws {AppError} If the lines have more than comments. */
function assertNoCommand(lines: string): void {
  if (lines.split(/[\r\n]/).every((line) => /^[ \t]*(#|$)/.test(line))) return;
  throw refused("has a second line without a \\ at the end of the first");
}

const refused = (what: string) =>
  new AppError("invalid", `body.command: ${what}; paste one docker run command`);
