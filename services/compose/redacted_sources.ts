/**
 * Variables and files of a stack, whose values only admins see. A redacted value that is sent back
 * keeps the stored one.
 *
 * @module
 */

import { InputError } from "../errors.ts";
import { NOTHING_STORED, REDACTED } from "../text/redact.ts";
import type { StackSources } from "./validate.ts";

type Values = Record<string, string>;
type Env = string | Values;

/**
 * An assignment at the beginning of a line of `.env`, with its value if that is quoted. Its name may have
 * what `env_file.ts` reads.
 */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*[=:][ \t]*(?:"[^"\\]*(?:\\[^][^"\\]*)*"|'[^']*')?/gmu;

/** The line of a redacted variable. */
const REDACTED_LINE =
  /^[ \t]*(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*[=:][ \t]*\*{8}[ \t]*\r?$/u;

export const redactValues = (values: Values): Values =>
  Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));

/** Keeps names only: a value may have several lines. */
export const redactEnv = (env: Env): Env =>
  typeof env === "string"
    ? assignmentsIn(env).map(({ name }) => `${name}=${REDACTED}\n`).join("")
    : redactValues(env);

/**
 * Replaces redacted values by the stored ones.
 *
 * @param stored Those that the caller has read; `undefined` for a new stack.
 * @throws {InputError} For a redacted value without a stored one.
 */
export function restoreSources<Given extends Partial<StackSources>>(
  given: Given,
  stored: Pick<StackSources, "env" | "files"> | undefined,
): Given {
  const { env, files } = given;
  return {
    ...given,
    ...(env !== undefined && { env: restoreEnv(env, stored?.env) }),
    ...(files && { files: restoreValues(files, stored?.files, "body.files") }),
  };
}

function restoreEnv(env: Env, stored: Env | undefined): Env {
  if (typeof env === "string") return restoreLines(env, typeof stored === "string" ? stored : "");
  return restoreValues(env, typeof stored === "object" ? stored : undefined, "body.env");
}

function restoreValues(values: Values, stored: Values = {}, path: string): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (value !== REDACTED) return [name, value];
      if (!Object.hasOwn(stored, name)) throw nothingStored(`${path}.${name}`);
      return [name, stored[name]!];
    }),
  );
}

/** Comments and line breaks of the stored text are kept if nothing else was sent. */
function restoreLines(env: string, stored: string): string {
  if (stored !== "" && env === redactEnv(stored)) return stored;
  const known = Map.groupBy(assignmentsIn(stored), ({ name }) => name);
  return env.split("\n").map((line) => {
    const [, name] = REDACTED_LINE.exec(line) ?? [];
    if (name === undefined) return line;
    const found = known.get(name);
    if (!found) throw nothingStored(`body.env.${name}`);
    // A name that occurs several times has its values in this order.
    return (found.length > 1 ? found.shift()! : found[0]!).text;
  }).join("\n");
}

/** The assignments of a text, each with what follows up to the next one. */
function assignmentsIn(env: string): { name: string; text: string }[] {
  const found = [...env.matchAll(ASSIGNMENT)];
  return found.map(({ 1: name, index }, at) => ({
    name: name!,
    text: env.slice(index, found[at + 1]?.index).replace(/\n$/, ""),
  }));
}

const nothingStored = (path: string) => new InputError([{ path, message: NOTHING_STORED }]);
