/**
 * `COMPOSE_FILE`: the Compose files of a directory, if they are not the usual ones.
 *
 * @see https://docs.docker.com/compose/how-tos/environment-variables/envvars/#compose_file
 * @module
 */

import { parseEnvFile } from "./env_file.ts";
import { LoadStopped, type Lookup, newLoading } from "./scope.ts";

/** The variable of the project's environment. */
export const COMPOSE_FILE = "COMPOSE_FILE";

/** The variable with what separates the files; Compose on Linux takes a colon. */
const SEPARATOR = "COMPOSE_PATH_SEPARATOR";

/** Name of the file of variables in a project's directory. */
export const ENV_FILE = ".env";

/** Returns the files as written, which are relative to the directory; `undefined` without the variable. */
export function namedFiles(lookup: Lookup): string[] | undefined {
  const names = lookup(COMPOSE_FILE)?.split(lookup(SEPARATOR) || ":")
    .map((name) => name.trim()).filter((name) => name !== "");
  return names?.length ? names : undefined;
}

/** Like {@linkcode namedFiles}, from the text of `.env`, whose errors the loader reports. */
export function filesNamedIn(env: string): string[] | undefined {
  const loading = newLoading(() => undefined, { directory: null });
  try {
    const variables = parseEnvFile(env, ENV_FILE, ENV_FILE, loading, () => undefined);
    return namedFiles((name) => variables.get(name));
  } catch (error) {
    if (error instanceof LoadStopped) return undefined;
    throw error;
  }
}
