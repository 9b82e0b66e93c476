/** Splits a pasted command line into the words that a shell would pass to `docker`. @module */

import { AppError } from "../../errors.ts";
import { splitWords } from "../load/values.ts";

/** Characters that end or connect commands, unless quoted. */
const OPERATORS = "|&;<>`";

/** Stands for a `$` that a shell does not expand. No text has this private character. */
const LITERAL_DOLLAR = "\uE000";

/** The current directory as a shell writes it; relative paths of a Compose file start there as well. */
const CURRENT_DIRECTORY = /^\$(\(pwd\)|\{PWD\}|PWD\b)/;

/**
 * The words of a command. A variable of the shell stays one, as `${NAME}` of the Compose file, and
 * a `$` that the shell leaves alone becomes `$$`.
 *
 * @throws {AppError} `invalid` for an open quote, several commands, pipes and substitutions.
 */
export function commandWords(command: string): string[] {
  try {
    return splitWords(withComposeVariables(command.replace(/^[$#]\s+/, "")))
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
  for (let at = 0; at < command.length; at++) {
    const char = command[at]!;
    if (char === "\\" && quote !== "'") {
      const next = command[++at] ?? "";
      if (next === "$") text += LITERAL_DOLLAR;
      // Windows ends its lines with two characters.
      else if (next === "\r" && command[at + 1] === "\n") at++;
      else text += char + next;
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

const refused = (what: string) =>
  new AppError("invalid", `body.command: ${what}; paste one docker run command`);
