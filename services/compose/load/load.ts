/**
 * Loads a Compose project: text in, model or located errors out. Pure: files and variables come from
 * the caller, never from the service's own environment.
 *
 * @module
 */

import { basename, resolve } from "node:path";
import { COMPOSE_FILE, ENV_FILE, namedFiles } from "./compose_file.ts";
import { parseEnvFile } from "./env_file.ts";
import { projectPath, readProject } from "./files.ts";
import { trimSlash } from "./paths.ts";
import { type Project, resolveProject } from "./resolve.ts";
import {
  type Loading,
  type LoadIssue,
  LoadStopped,
  type Lookup,
  newLoading,
  quote,
  type ReadFile,
  type UnbuiltImage,
  type UnsetVariables,
  warn,
} from "./scope.ts";

/** The sources of a project. */
export interface ProjectSources {
  compose: string;
  /**
   * Absolute paths of the Compose files of a project on disk: the first has the Compose text, the
   * others override it in this order.
   */
  configFiles?: readonly string[] | undefined;
  /** The text of `.env`. */
  env?: string | undefined;
  /** Paths of further files of variables, which need not exist; later ones win, also over `.env`. */
  envFiles?: readonly string[] | undefined;
  /** Values of variables that neither the files nor `variables` have. */
  recovered?: Readonly<Record<string, string>> | undefined;
  /** Further variables, which win over those of `env`. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Files by path, relative to the project's directory. */
  readFile?: ReadFile | undefined;
  /** Active profiles; by default those of `COMPOSE_PROFILES`. */
  profiles?: readonly string[] | undefined;
  /** Wins over the name in the text. */
  name?: string | undefined;
  /** Absolute path on the host, for relative paths. */
  directory?: string | undefined;
  /** Whether relative paths without a directory are errors; otherwise they are warnings. */
  refusesRelative?: boolean | undefined;
  /** Directories of the host that may be mounted; by default all. */
  bindAllow?: readonly string[] | null | undefined;
}

export interface LoadedProject {
  /** `undefined` if there are errors. */
  project: Project | undefined;
  errors: LoadIssue[];
  /** Parts of the text without effect here, and variables that are not set. */
  warnings: LoadIssue[];
  /** Images of services with `build`, which the engine must have. */
  builds: UnbuiltImage[];
  /** Strings with variables that are not set. */
  unset: UnsetVariables[];
  /** Texts of secrets and configs by path, e.g. `secrets.key`; not of files on the host. */
  contents: ReadonlyMap<string, string>;
  /** The values of all variables. */
  values: string[];
}

/** The text of `.env` with these variables; `undefined` without any. */
function envFileOf(variables: Readonly<Record<string, string>>): string | undefined {
  const lines = Object.entries(variables).map(([name, value]) =>
    `${name}="${value.replace(/["\\$]/g, "\\$&")}"\n`
  );
  return lines.length > 0 ? lines.join("") : undefined;
}

/** The name of a project without a name and a directory. */
const DEFAULT_NAME = "stack";

/**
 * Loads a project, in slices between which other work runs. Invalid sources are errors of the result;
 * it throws only for bugs.
 */
export async function loadProject(sources: ProjectSources): Promise<LoadedProject> {
  const { compose, configFiles = [], env, variables = {}, readFile = () => undefined, directory } =
    sources;
  const { envFiles = [], recovered = {} } = sources;
  const envText = env ?? readFile(ENV_FILE);
  // Services may name `.env` as their own env file.
  const readAny: ReadFile = (path) =>
    path === ENV_FILE ? envText ?? envFileOf(variables) : readFile(path);
  const loading = newLoading(readAny, {
    ...sources,
    directory: directory === undefined ? null : trimSlash(directory),
  });
  const { errors, warnings, builds, unset, contents } = loading;
  const values = [...Object.values(variables), ...Object.values(recovered)];
  try {
    const given: Lookup = (name) => ownValue(variables, name);
    const dotenv = parseEnvFile(envText ?? "", ENV_FILE, ENV_FILE, loading, given);
    for (const path of envFiles) {
      const text = readAny(projectPath(path, loading));
      if (text !== undefined) parseEnvFile(text, path, path, loading, given, dotenv);
    }
    values.push(...dotenv.values());
    const fallback = sources.name ?? nameOf(directory) ?? DEFAULT_NAME;
    const lookup: Lookup = (name) =>
      given(name) ?? dotenv.get(name) ?? ownValue(recovered, name) ??
        (name === NAME_VARIABLE ? fallback : undefined);
    checkComposeFile(namedFiles(lookup), sources, loading);
    if (lookup(ENV_FILES)) {
      const where = { file: ENV_FILE, line: 1, column: 1 };
      warn(loading, ENV_FILES, "has no effect: write the variables into .env itself", where);
    }
    const written = await readProject(compose, configFiles.slice(1), loading, lookup);
    const ownName = dotenv.get(NAME_VARIABLE) ?? written.name;
    const name = sources.name ?? ownName ?? fallback;
    if (ownName !== undefined && ownName !== name) {
      warn(loading, "name", `is ${quote(ownName)}, but the stack is called ${quote(name)}`);
    }
    const profiles = sources.profiles ??
      lookup("COMPOSE_PROFILES")?.split(",").map((profile) => profile.trim()) ?? [];
    const project = await resolveProject(written, name, profiles, loading, lookup);
    return {
      project: errors.length === 0 ? project : undefined,
      errors,
      warnings,
      builds,
      unset,
      contents,
      values,
    };
  } catch (error) {
    if (!(error instanceof LoadStopped)) throw error;
    return { project: undefined, errors, warnings, builds, unset, contents, values };
  }
}

const ownValue = (values: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const NAME_VARIABLE = "COMPOSE_PROJECT_NAME";

/** Compose reads it from its own environment only. */
const ENV_FILES = "COMPOSE_ENV_FILES";

/** Warns of Compose files that are not those of the project. */
function checkComposeFile(
  named: readonly string[] | undefined,
  { configFiles = [], directory = "/" }: ProjectSources,
  loading: Loading,
): void {
  if (!named || named.map((name) => resolve(directory, name)).join() === configFiles.join()) return;
  const where = { file: ENV_FILE, line: 1, column: 1 };
  warn(loading, COMPOSE_FILE, "has no effect: the stack has other Compose files", where);
}

/** The name that Compose gives a project in a directory. */
function nameOf(directory: string | undefined): string | undefined {
  const name = basename(directory ?? "").toLowerCase().replace(/[^a-z0-9_-]/g, "");
  return name.replace(/^[_-]+/, "") || undefined;
}
