/**
 * The arguments of a command.
 *
 * @module
 */

import { nodeUtil } from "../services/builtins.ts";
import { type Program, UsageError } from "./program.ts";

/** What a command takes: `--name` is `"flag"`, `--name VALUE` is `"value"`. */
export type Options = Readonly<Record<string, "flag" | "value">>;

/** The options of a command as they were given. */
export type Given<Wanted extends Options> = {
  [Name in keyof Wanted]?: Wanted[Name] extends "flag" ? true : string;
};

/**
 * Reads what a command was given.
 *
 * @param command E.g. `"user add"`.
 * @param names What its arguments are, in order, all of which are needed, e.g. `["EMAIL"]`.
 * @throws {UsageError} For an unknown option, and for an argument too few or too many.
 */
export function parseArguments<const Names extends readonly string[], Wanted extends Options>(
  command: string,
  { args }: Pick<Program, "args">,
  names: Names,
  wanted: Wanted,
): { values: { [Index in keyof Names]: string }; options: Given<Wanted> } {
  const options = Object.fromEntries(
    Object.entries(wanted).map(([name, kind]) => [
      name,
      { type: kind === "flag" ? "boolean" as const : "string" as const },
    ]),
  );
  let parsed;
  try {
    parsed = nodeUtil().parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\. |\n/);
    throw new UsageError(`${command}: ${sentence}`);
  }
  const { positionals } = parsed;
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`${command} needs ${missing}`);
  if (positionals.length > names.length) {
    const more = positionals.slice(names.length).join(" ");
    throw new UsageError(`${command} takes no more arguments, but got: ${more}`);
  }
  return {
    values: positionals as { [Index in keyof Names]: string },
    options: parsed.values as Given<Wanted>,
  };
}

/**
 * The first argument, where a command is several, and the program for the rest.
 *
 * @throws {UsageError} For none of them.
 */
export function subcommand<Name extends string>(
  command: string,
  program: Program,
  names: readonly Name[],
): { name: Name; program: Program } {
  const [name, ...args] = program.args;
  const known = names.find((known) => known === name);
  if (known !== undefined) return { name: known, program: { ...program, args } };
  const given = name === undefined ? "" : `, not ${name}`;
  throw new UsageError(`${command} needs one of ${names.join(", ")}${given}`);
}
