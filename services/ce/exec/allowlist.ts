/**
 * Which commands `exec` may run.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { splitWords } from "./shell_words.ts";

/** One entry, taken apart: commands are compared word by word, never as text. */
export interface AllowedCommand {
  argv: readonly string[];
  /** Whether further arguments may follow. */
  isPrefix: boolean;
}

/** Ending of an entry that allows further arguments. */
const ANY_ARGUMENTS = /[ \t]\*$/;

/**
 * Reads the entries of `EXEC_ALLOWLIST`. Each is a command with the quoting of shells; it is exact,
 * or the beginning of a command where it ends in ` *`.
 *
 * @throws {AppError} `invalid` or `forbidden`, with the entry, for one that could never match: a
 * lone `*`, unfinished quotations, pipes and the like.
 */
export function parseExecAllowlist(entries: readonly string[]): AllowedCommand[] {
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== "").map((entry) => {
    if (entry === "*") throw new AppError("invalid", "Entry *: Names no program");
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
  const named = program.slice(0, 100);
  throw new AppError(
    "forbidden",
    allowlist.some(({ argv: [allowed] }) => allowed === program)
      ? `${named} is not allowed ${rest.length ? "with these arguments" : "without arguments"}`
      : `${named} is not allowed`,
  );
}

function allows({ argv: allowed, isPrefix }: AllowedCommand, argv: readonly string[]): boolean {
  if (isPrefix ? argv.length < allowed.length : argv.length !== allowed.length) return false;
  return allowed.every((word, index) => word === argv[index]);
}
