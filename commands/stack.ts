/** `longshore stack`: checks a Compose file, and deploys it through the running service. @module */

import type { LoadIssue } from "../services/compose/load/scope.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { findInstallation } from "./installation.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import { connectService, RefusedError, type ServiceClient } from "./service_client.ts";
import { followJob } from "./service_job.ts";
import {
  describe,
  FILE_OPTIONS,
  findDirectory,
  joinFiles,
  openSources,
  readName,
  type Sources,
  type Target,
} from "./stack_sources.ts";

/** Options of the commands that need the service. */
const SOURCE_OPTIONS = { ...FILE_OPTIONS, name: "value" } as const;

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
  const { values: [file], options } = parseArguments("stack validate", program, ["[FILE]"], {
    ...SOURCE_OPTIONS,
    json: "flag",
  });
  const opened = openSources(file, options);
  const { main, directory, load } = opened;
  const noteAll = (issues: readonly LoadIssue[], level?: string) => {
    for (const issue of issues) program.note(describe(main, issue, level));
  };
  const { project, errors, warnings } = await load({ directory });
  if (!project) {
    noteAll(warnings, "warning: ");
    noteAll(errors);
    return EXIT.failure;
  }
  const name = options.name ?? project.name;
  const place = await findDirectory(opened, await findTarget(program, name));
  // Without a directory, files are copied into containers instead of mounted.
  noteAll(place === undefined ? (await load({ name })).warnings : warnings, "warning: ");
  if (options.json) program.print(JSON.stringify(project, null, 2));
  else program.print(`${main}: valid; services: ${Object.keys(project.services).join(", ")}`);
  return EXIT.ok;
}

/** The stack in the service; without a token or a service, by the environment. */
async function findTarget(program: Program, name: string): Promise<Target> {
  const { env, signal } = program;
  const configured = {
    name,
    roots: () => Promise.resolve(findInstallation(program).config.stackRoots),
  };
  if (!env.LONGSHORE_TOKEN) return configured;
  try {
    const service = connectService(program);
    const current = await findCurrent(service, name, signal);
    const roots = await readRoots(service, signal);
    return { name, current, roots: () => Promise.resolve(roots) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    program.note(`warning: checked without the service: ${error.message}`);
    return configured;
  }
}

interface Change {
  kind: string;
  name: string;
  action: string;
  reasons?: { text: string }[];
}

async function plan(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack plan", program, ["[FILE]"], {
    ...SOURCE_OPTIONS,
    "remove-orphans": "flag",
  });
  const { service, name, current, directory, sources } = await prepare(program, file, options);
  const planned: { changes: Change[]; warnings: string[] } = JSON.parse(
    await service.post(`/api/stacks/${name}/plan`, {
      // The service reads the files of a directory itself.
      sources: current || directory === undefined
        ? sources
        : { directory, profiles: sources.profiles },
      removeOrphans: options["remove-orphans"] ?? false,
    }, program.signal),
  );
  printChanges(program, planned);
  return EXIT.ok;
}

async function deploy(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack deploy", program, ["[FILE]"], {
    ...SOURCE_OPTIONS,
    data: "value",
    pull: "value",
    recreate: "value",
    rehearse: "flag",
    "remove-orphans": "flag",
  });
  const { print, signal } = program;
  const prepared = await prepare(program, file, options);
  const { service, name } = prepared;
  const version = await store(prepared, signal);
  const job = JSON.parse(
    await service.post(`/api/stacks/${name}/deploy`, {
      expectedVersion: version,
      data: options.data,
      rehearse: options.rehearse,
      pull: options.pull,
      recreate: options.recreate,
      removeOrphans: options["remove-orphans"] ?? false,
    }, signal),
  );
  const result = await followJob(program, service, job);
  printChanges(program, result as { changes: Change[]; warnings: string[] });
  print(`Version ${version} of ${name} is deployed.`);
  return EXIT.ok;
}

async function down(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("stack down", program, ["[FILE]"], {
    ...SOURCE_OPTIONS,
    volumes: "flag",
  });
  const { print, signal } = program;
  const name = await readName(openSources(file, options), options.name);
  const service = connectService(program);
  const job = JSON.parse(
    await service.post(`/api/stacks/${name}/down`, { volumes: options.volumes ?? false }, signal),
  );
  const { containers, warnings } = await followJob(program, service, job) as {
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

/** The stack, as the service has it. */
interface Current extends Sources {
  version: number;
  directory: string | null;
  configFiles: string[];
}

/** Opens the files of a call, and decides where their stack is. */
async function prepare(
  program: Program,
  file: string | undefined,
  options: Parameters<typeof openSources>[1] & { name?: string },
) {
  const opened = openSources(file, options);
  const name = await readName(opened, options.name);
  const { signal } = program;
  const service = connectService(program);
  const current = await findCurrent(service, name, signal);
  const roots = () => readRoots(service, signal);
  const directory = await findDirectory(opened, { name, current, roots });
  const sources = current?.directory ? opened.sources : joinFiles(opened);
  return { service, name, current, directory, sources };
}

const readRoots = async (service: ServiceClient, signal: AbortSignal): Promise<string[]> =>
  JSON.parse(await service.text("/api/compose/keys", signal)).roots;

async function findCurrent(
  service: ServiceClient,
  name: string,
  signal: AbortSignal,
): Promise<Current | undefined> {
  try {
    return JSON.parse(await service.text(`/api/stacks/${name}/source`, signal));
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return undefined;
    throw error;
  }
}

/** Stores the sources unless they are the current ones. @returns Their version. */
async function store(
  { service, name, current, directory, sources }: Awaited<ReturnType<typeof prepare>>,
  signal: AbortSignal,
): Promise<number> {
  if (!current) {
    const { profiles } = sources;
    // The service reads the files of a directory itself.
    const given = directory === undefined ? sources : { directory, profiles };
    const created = { name, deploy: false, ...given };
    return JSON.parse(await service.post("/api/stacks", created, signal)).version;
  }
  const { version: expectedVersion } = current;
  const textOf = ({ compose, env = "", files, profiles = [] }: Sources) =>
    JSON.stringify([compose, env, Object.entries(files).sort(), profiles]);
  if (textOf(current) === textOf(sources)) return expectedVersion;
  const path = `/api/stacks/${name}/source`;
  return JSON.parse(await service.put(path, { ...sources, expectedVersion }, signal)).version;
}
