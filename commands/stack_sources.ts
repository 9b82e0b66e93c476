/** Sources of a stack in the files of `longshore stack`: Compose files and those that they name. @module */

import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { findPlace } from "../services/compose/disk_sources.ts";
import { ENV_FILE } from "../services/compose/load/compose_file.ts";
import {
  type LoadedProject,
  loadProject,
  type ProjectSources,
} from "../services/compose/load/load.ts";
import { isInside } from "../services/text/paths.ts";
import type { LoadIssue } from "../services/compose/load/scope.ts";
import { CommandError, commandError, UsageError } from "./program.ts";

/** A little more than the loader accepts, so that it reports what is too large. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;

export interface Sources {
  compose: string;
  env?: string | undefined;
  files: Record<string, string>;
  profiles?: string[] | undefined;
}

/** Options of all commands. */
export const FILE_OPTIONS = { file: "values", "env-file": "value", profiles: "value" } as const;

interface FileOptions {
  file?: string[];
  "env-file"?: string;
  profiles?: string;
}

export type OpenedSources = ReturnType<typeof openSources>;

/**
 * Opens Compose files. The files that they name are added to the sources when a load reads them.
 *
 * @param file The argument FILE, before those of `--file`.
 * @throws {CommandError} For a file that cannot be read, or is not in the directory of the first one.
 */
export function openSources(file: string | undefined, options: FileOptions) {
  const given = [...file === undefined ? [] : [file], ...options.file ?? []];
  const [main] = given;
  if (main === undefined) throw new UsageError("stack needs FILE, or --file FILE");
  const directory = resolve(dirname(main));
  const paths = given.map((each) => resolve(each));
  const names = paths.map((path) => relative(directory, path));
  const outside = names.findIndex((name) => name.startsWith(".."));
  if (outside >= 0) {
    throw new CommandError(
      `${given[outside]} is not in ${directory}, the directory of the first file; copy it there`,
    );
  }
  const envFile = options["env-file"];
  const files: Record<string, string> = {};
  const sources: Sources = {
    compose: readText(main),
    env: envFile === undefined ? readIfThere(join(directory, ENV_FILE)) : readText(envFile),
    files,
    profiles: options.profiles?.split(","),
  };
  const readFile = (path: string) => {
    const text = readIfThere(isAbsolute(path) ? path : join(directory, path));
    // An included file also looks for the variables of the project.
    if (text !== undefined && !isAbsolute(path) && path !== ENV_FILE) files[path] = text;
    return text;
  };
  const load = (options: Pick<ProjectSources, "directory" | "name" | "refusesRelative">) => {
    const configFiles = options.directory === undefined ? names : paths;
    return loadProject({ ...sources, configFiles, readFile, ...options });
  };
  return { main, directory, paths, names, envFile, sources, load };
}

/**
 * Returns the name of the stack.
 *
 * @param given The option `--name`.
 * @throws {CommandError} With the first error of the files.
 */
export async function readName({ main, directory, load }: OpenedSources, given?: string) {
  const { project, errors: [error] }: LoadedProject = await load({ directory });
  if (project) return given ?? project.name;
  throw new CommandError(error ? describe(main, error) : `${main} has errors`);
}

/** The stack as the service has it, and the directories that may have stacks on disk. */
export interface Target {
  name: string;
  /** `undefined` for a new stack. */
  current?: { directory: string | null; configFiles: string[] } | undefined;
  roots: () => Promise<string[]>;
}

/**
 * Decides where a stack is on the host. Mounts with relative paths need a directory.
 *
 * @returns The directory; `undefined` for a stack that is only stored.
 * @throws {CommandError} If the service cannot deploy it from there.
 */
export async function findDirectory(
  opened: OpenedSources,
  { name, current, roots }: Target,
): Promise<string | undefined> {
  const { main, directory, paths, names, load } = opened;
  if (current?.directory) {
    const used = current.configFiles.map((path) => relative(current.directory!, path));
    assertSameFiles(names, used, current.directory);
    return current.directory;
  }
  const { errors: [error] } = await load({ name, refusesRelative: true });
  if (!error) return undefined;
  const problem = describe(main, error);
  if (current) {
    throw new CommandError(
      `${problem}; ${name} is stored without a directory: write the full path, or delete the ` +
        "stored sources first",
    );
  }
  const allowed = await roots();
  if (!allowed.some((root) => directory !== root && isInside(directory, root))) {
    throw new CommandError(
      `${problem}; ${directory} is not below a directory of STACK_ROOTS ` +
        `(${allowed.join(", ") || "empty"}): move the project there, or write the full path`,
    );
  }
  assertOwnEnvFile(opened);
  const read = (path: string) => Promise.resolve(readIfThere(path));
  const { configFiles } = await findPlace({ read }, directory);
  assertSameFiles(paths, configFiles, directory);
  return directory;
}

function assertSameFiles(given: string[], used: string[], directory: string): void {
  if (given.join() === used.join()) return;
  throw new CommandError(
    `The Compose files of ${directory} are ${used.join(", ")}, not ${given.join(", ")}; give ` +
      `those, or set COMPOSE_FILE in ${join(directory, ENV_FILE)}`,
  );
}

function assertOwnEnvFile({ directory, envFile }: OpenedSources): void {
  const own = join(directory, ENV_FILE);
  if (envFile === undefined || resolve(envFile) === own) return;
  throw new CommandError(
    `--env-file ${envFile} cannot be used: a stack in a directory has its variables in ${own}`,
  );
}

/** Name of the Compose text in the API, and of a file with that name. */
const MAIN_NAME = "compose.yaml";
const BASE_NAME = "compose.base.yaml";

/** Several Compose files as one text that includes them, because a stored stack has one text. */
export function joinFiles({ names, sources }: Pick<OpenedSources, "names" | "sources">): Sources {
  if (names.length === 1) return sources;
  const { compose, files, ...rest } = sources;
  const nameOf = (name: string) => name === MAIN_NAME ? BASE_NAME : name;
  const all = Object.entries({ ...files, [names[0]!]: compose });
  const path = JSON.stringify(names.map(nameOf)).replaceAll("$", "$$$$");
  return {
    ...rest,
    compose: `include:\n  - path: ${path}\n    project_directory: .\n`,
    files: Object.fromEntries(all.map(([name, text]) => [nameOf(name), text])),
  };
}

export const describe = (file: string, issue: LoadIssue, level = "") =>
  `${place(file, issue)}: ${level}${text(issue)}`;

/** As compilers print it, so that editors find it. */
const place = (name: string, { file, line, column }: LoadIssue) =>
  `${file ?? name}:${line}:${column}`;

const text = ({ path, message }: LoadIssue) => path === "" ? message : `${path} ${message}`;

/** @throws {CommandError} Also for a file that is too large. */
export function readText(file: string): string {
  try {
    const { size, isFile } = Deno.statSync(file);
    if (isFile && size > FILE_BYTES_MAX) throw new Error("it is too large");
    return Deno.readTextFileSync(file);
  } catch (error) {
    throw commandError(`${file} cannot be read`, error);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readText(file);
  } catch (error) {
    if ((error as Error).cause instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
