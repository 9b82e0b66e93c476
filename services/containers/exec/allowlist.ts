/** The allowlist of commands that `exec` may run. @module */

import { AppError } from "../../errors.ts";
import { splitWords } from "./shell_words.ts";

/** One entry, split into words: commands are compared word by word, never as text. */
interface AllowedCommand {
  argv: readonly string[];
  /** Whether further arguments may follow. */
  isPrefix: boolean;
}

/** The end of an entry that allows further arguments. */
const ANY_ARGUMENTS = /[ \t]\*$/;

/**
 * Parses the entries of `EXEC_ALLOWLIST`. Each is a command with shell quoting. It matches exactly,
 * or as a prefix if it ends in ` *`.
 *
 * @throws {AppError} `invalid` or `forbidden`, with the entry, for an entry that could never match: a
 * lone `*`, an unclosed quotation, a pipe or another shell operator.
 */
export function parseExecAllowlist(entries: readonly string[]): AllowedCommand[] {
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== "").map((entry) => {
    if (entry === "*") throw new AppError("invalid", "Entry *: No program given");
    try {
      return {
        argv: splitWords(entry.replace(ANY_ARGUMENTS, "")),
        isPrefix: ANY_ARGUMENTS.test(entry),
      };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const reason = error.message.replace(/^body\.command: /, "");
      throw new AppError(error.code, `Entry ${entry}: ${reason}`, { cause: error });
    }
  });
}

/** @throws {AppError} `forbidden`, naming the program, when no entry allows the command. */
export function assertExecAllowed(
  allowlist: readonly AllowedCommand[],
  argv: readonly string[],
): void {
  if (allowlist.some((entry) => allows(entry, argv))) return;
  const [program = "", ...rest] = argv;
  const shown = program.slice(0, 100);
  throw new AppError(
    "forbidden",
    allowlist.some(({ argv: [allowed] }) => allowed === program)
      ? `${shown} is not allowed ${rest.length ? "with these arguments" : "without arguments"}`
      : `${shown} is not allowed`,
  );
}

function allows({ argv: allowed, isPrefix }: AllowedCommand, argv: readonly string[]): boolean {
  if (isPrefix ? argv.length < allowed.length : argv.length !== allowed.length) return false;
  return allowed.every((word, index) => word === argv[index]);
}
