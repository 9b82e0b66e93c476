/** The arguments of a command. @module */

import { USER_ROLES, type UserRole } from "../services/access/caller.ts";
import { nodeUtil } from "../services/builtins.ts";
import { type Program, UsageError } from "./program.ts";

/**
 * The options of a command: `--name` is `"flag"`, `--name VALUE` is `"value"`, and `"values"` if it may
 * be repeated, which also has the first letter as its short form.
 */
type Options = Readonly<Record<string, "flag" | "value" | "values">>;

/** The arguments of a call. */
type Values<Names extends readonly string[]> = {
  [Index in keyof Names]: Names[Index] extends `[${string}` ? string | undefined : string;
};

/** The options of a call. */
type Given<Wanted extends Options> = {
  [Name in keyof Wanted]?: Wanted[Name] extends "flag" ? true
    : Wanted[Name] extends "values" ? string[]
    : string;
};

/**
 * Parses the arguments of a command.
 *
 * @param command E.g. `"user add"`.
 * @param names Its arguments in order, e.g. `["EMAIL"]`; an optional one is in brackets.
 * @throws {UsageError} For an unknown option, a missing or an extra argument.
 */
export function parseArguments<const Names extends readonly string[], Wanted extends Options>(
  command: string,
  { args }: Pick<Program, "args">,
  names: Names,
  wanted: Wanted,
): { values: Values<Names>; options: Given<Wanted> } {
  const options = Object.fromEntries(
    Object.entries(wanted).map(([name, kind]) => [
      name,
      {
        type: kind === "flag" ? "boolean" as const : "string" as const,
        ...(kind === "values" && { multiple: true, short: name[0]! }),
      },
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
  if (missing !== undefined && !missing.startsWith("[")) {
    throw new UsageError(`${command} needs ${missing}`);
  }
  if (positionals.length > names.length) {
    const more = positionals.slice(names.length).join(" ");
    throw new UsageError(`${command} takes no more arguments, but got: ${more}`);
  }
  return {
    values: positionals as Values<Names>,
    options: parsed.values as Given<Wanted>,
  };
}

/**
 * Returns the subcommand (the first argument), and the program with the remaining arguments.
 *
 * @throws {UsageError} If it is missing or unknown.
 */
export function subcommand<Name extends string>(
  command: string,
  program: Program,
  names: readonly Name[],
): { name: Name; program: Program } {
  const [name, ...args] = program.args;
  const known = names.find((known) => known === name);
  if (known !== undefined) return { name: known, program: { ...program, args } };
  const choice = names.length > 1 ? "one of " : "";
  const given = name === undefined ? "" : `, not ${name}`;
  throw new UsageError(`${command} needs ${choice}${names.join(", ")}${given}`);
}

/**
 * @param argument Its name, e.g. `--role`.
 * @throws {UsageError} If it is not a role.
 */
export function parseRole(argument: string, text: string): UserRole {
  const role = USER_ROLES.find((role) => role === text);
  if (role) return role;
  throw new UsageError(`${argument} must be one of ${USER_ROLES.join(", ")}, not ${text}`);
}
