/** Variables and labels of a service: its own, and those of its files. @module */

import { type EnvFile, parseEnvFile, parseRawEnvFile } from "./env_file.ts";
import { readText } from "./files.ts";
import { type Loading, type Lookup, noteUnset, type ReadFile } from "./scope.ts";
import type { Hook, WrittenService } from "./service_keys.ts";

/** Variables without a value have that of the project. */
export const resolveHooks = (hooks: readonly Hook[], lookup: Lookup): Hook[] =>
  hooks.map(({ environment, ...hook }) =>
    environment === undefined ? hook : {
      ...hook,
      environment: Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, value ?? lookup(name) ?? null]),
      ),
    }
  );

/**
 * Later files win over earlier ones, and the service's own variables win over files. A value in a
 * file may use the project's variables, then the service's own, then those of the files before.
 */
export function resolveEnvironment(
  files: WrittenService["env_file"],
  own: WrittenService["environment"],
  path: string,
  loading: Loading,
  lookup: Lookup,
): Pick<WrittenService, "environment"> {
  if (!files && !own) return {};
  for (const [name, value] of Object.entries(own ?? {})) {
    if (value !== null || lookup(name) !== undefined) continue;
    noteUnset(loading, `${path}.environment.${name}`, [{ name, fallback: "" }]);
  }
  const ownVariables = new Map(
    Object.entries(own ?? {}).map(([name, value]) => [name, value ?? lookup(name) ?? null]),
  );
  const known: Lookup = (name) => lookup(name) ?? ownVariables.get(name) ?? undefined;
  const variables: EnvFile = new Map();
  for (const [index, { path: file, required, format }] of (files ?? []).entries()) {
    const at = `${path}.env_file[${index}]`;
    const text = readVariables(file, at, required, loading);
    const parse = format === "raw" ? parseRawEnvFile : parseEnvFile;
    if (text !== undefined) parse(text, file, at, loading, known, variables);
  }
  return { environment: Object.fromEntries([...variables, ...ownVariables]) };
}

export function resolveLabels(
  files: WrittenService["label_file"],
  own: WrittenService["labels"],
  path: string,
  loading: Loading,
): Pick<WrittenService, "labels"> {
  const read: EnvFile = new Map();
  for (const file of files ?? []) {
    const at = `${path}.label_file`;
    const text = readVariables(file, at, true, loading);
    // The project's variables are not those of labels.
    if (text !== undefined) parseEnvFile(text, file, at, loading, () => undefined, read);
  }
  if (read.size === 0) return own ? { labels: own } : {};
  return { labels: { ...Object.fromEntries(read), ...own } };
}

function readVariables(
  file: string,
  at: string,
  required: boolean,
  loading: Loading,
): string | undefined {
  const readFile: ReadFile = required ? loading.readFile : (path) => loading.readFile(path) ?? "";
  return readText(file, at, { ...loading, readFile });
}
