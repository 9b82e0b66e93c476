/** `longshore stack`: checks a Compose file, and deploys it through the running service. @module */

import { dirname, isAbsolute, join, resolve } from "node:path";
import {
  type LoadedProject,
  loadProject,
  type ProjectSources,
} from "../services/compose/load/load.ts";
import type { LoadIssue } from "../services/compose/load/scope.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { CommandError, commandError, EXIT, type Program } from "./program.ts";
import { connectService, RefusedError, type ServiceClient } from "./service_client.ts";
import { followJob } from "./service_job.ts";

/** The options of all commands, and of those that need the service. */
const FILE_OPTIONS = { "env-file": "value", profiles: "value" } as const;
const SOURCE_OPTIONS = { ...FILE_OPTIONS, name: "value" } as const;

const ENV_FILE = ".env";

/** A little more than the loader accepts, so that it reports what is too large. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;

export function stack(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("stack", program, [
    "validate",
    "plan",
    "deploy",
    "down",
  ]);
  return { validate, plan, deploy, down }[name](rest);
}

async function validate(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack validate", program, ["FILE"], {
    ...FILE_OPTIONS,
    json: "flag",
  });
  const { directory, load } = openSources(file, options);
  const { project, errors, warnings } = await load({ directory });
  for (const issue of warnings) program.note(`${place(file, issue)}: warning: ${text(issue)}`);
  for (const issue of errors) program.note(describe(file, issue));
  if (!project) return EXIT.failure;
  if (options.json) program.print(JSON.stringify(project, null, 2));
  else program.print(`${file}: valid; services: ${Object.keys(project.services).join(", ")}`);
  return EXIT.ok;
}

interface Change {
  kind: string;
  name: string;
  action: string;
  reasons?: { text: string }[];
}

async function plan(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack plan", program, ["FILE"], {
    ...SOURCE_OPTIONS,
    "remove-orphans": "flag",
  });
  const { name, sources } = await readSources(file, options);
  const service = connectService(program);
  const planned: { changes: Change[]; warnings: string[] } = JSON.parse(
    await service.post(`/api/stacks/${name}/plan`, {
      sources,
      removeOrphans: options["remove-orphans"] ?? false,
    }, program.signal),
  );
  printChanges(program, planned);
  return EXIT.ok;
}

async function deploy(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack deploy", program, ["FILE"], {
    ...SOURCE_OPTIONS,
    pull: "value",
    recreate: "value",
    "remove-orphans": "flag",
  });
  const { print, signal } = program;
  const { name, sources } = await readSources(file, options);
  const service = connectService(program);
  const version = await store(service, name, sources, signal);
  const job = JSON.parse(
    await service.post(`/api/stacks/${name}/deploy`, {
      expectedVersion: version,
      pull: options.pull,
      recreate: options.recreate,
      removeOrphans: options["remove-orphans"] ?? false,
    }, signal),
  );
  const result = await followJob(program, service, job.id);
  printChanges(program, result as { changes: Change[]; warnings: string[] });
  print(`Version ${version} of ${name} is deployed.`);
  return EXIT.ok;
}

async function down(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack down", program, ["FILE"], {
    ...SOURCE_OPTIONS,
    volumes: "flag",
  });
  const { print, signal } = program;
  const { name } = await readSources(file, options);
  const service = connectService(program);
  const job = JSON.parse(
    await service.post(`/api/stacks/${name}/down`, { volumes: options.volumes ?? false }, signal),
  );
  const { containers, warnings } = await followJob(program, service, job.id) as {
    containers: string[];
    warnings: string[];
  };
  printChanges(program, { changes: [], warnings });
  print(`Removed containers of ${name}: ${containers.join(", ") || "none"}`);
  return EXIT.ok;
}

function printChanges(
  { print, note }: Program,
  { changes, warnings }: { changes: Change[]; warnings: string[] },
): void {
  for (const { kind, name, action, reasons = [] } of changes) {
    const why = reasons.map(({ text }) => text).join("; ");
    print(`${kind} ${name}: ${action}${why ? ` (${why})` : ""}`);
  }
  for (const warning of warnings) note(`warning: ${warning}`);
}

interface Sources {
  compose: string;
  env?: string | undefined;
  files: Record<string, string>;
  profiles?: string[] | undefined;
}

interface FileOptions {
  "env-file"?: string;
  profiles?: string;
}

/** Opens a Compose file. The files that it names are added to the sources when a load reads them. */
function openSources(file: string, { "env-file": envFile, profiles }: FileOptions) {
  const directory = resolve(dirname(file));
  const files: Record<string, string> = {};
  const sources: Sources = {
    compose: readText(file),
    env: envFile === undefined ? readIfThere(join(directory, ENV_FILE)) : readText(envFile),
    files,
    profiles: profiles?.split(","),
  };
  const readFile = (path: string) => {
    const text = readIfThere(isAbsolute(path) ? path : join(directory, path));
    // An included file also looks for the variables of the project.
    if (text !== undefined && !isAbsolute(path) && path !== ENV_FILE) files[path] = text;
    return text;
  };
  const load = (options: Pick<ProjectSources, "directory" | "name" | "refusesRelative">) =>
    loadProject({ ...sources, readFile, ...options });
  return { sources, directory, load };
}

/**
 * Reads a Compose file with the files that it names.
 *
 * @throws {CommandError} With the first error of the file.
 */
async function readSources(
  file: string,
  options: FileOptions & { name?: string },
): Promise<{ name: string; sources: Sources }> {
  const { sources, directory, load } = openSources(file, options);
  const projectOf = ({ project, errors: [error] }: LoadedProject) => {
    if (project) return project;
    throw new CommandError(error ? describe(file, error) : `${file} has errors`);
  };
  const name = options.name ?? projectOf(await load({ directory })).name;
  // The service has no directory for relative paths.
  projectOf(await load({ name, refusesRelative: true }));
  return { name, sources };
}

const describe = (file: string, issue: LoadIssue) => `${place(file, issue)}: ${text(issue)}`;

/** Stores the sources unless they are the current ones. @returns Their version. */
async function store(
  service: ServiceClient,
  name: string,
  sources: Sources,
  signal: AbortSignal,
): Promise<number> {
  const path = `/api/stacks/${name}/source`;
  let current: Sources & { version: number };
  try {
    current = JSON.parse(await service.text(path, signal));
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 404)) throw error;
    const created = { name, deploy: false, ...sources };
    return JSON.parse(await service.post("/api/stacks", created, signal)).version;
  }
  const { version: expectedVersion } = current;
  const textOf = ({ compose, env = "", files, profiles = [] }: Sources) =>
    JSON.stringify([compose, env, Object.entries(files).sort(), profiles]);
  if (textOf(current) === textOf(sources)) return expectedVersion;
  return JSON.parse(await service.put(path, { ...sources, expectedVersion }, signal)).version;
}

/** As compilers print it, so that editors find it. */
const place = (name: string, { file, line, column }: LoadIssue) =>
  `${file ?? name}:${line}:${column}`;

const text = ({ path, message }: LoadIssue) => path === "" ? message : `${path} ${message}`;

/** @throws {CommandError} */
function readText(file: string): string {
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
