/**
 * `longshore stack validate FILE`
 *
 * @module
 */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { loadProject } from "../services/ce/compose/load/load.ts";
import type { LoadIssue } from "../services/ce/compose/load/scope.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { CommandError, EXIT, type Program } from "./program.ts";

/** A little more than the loader accepts, so that it reports what is too large. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;

export function stack(program: Program): number {
  const { program: rest } = subcommand("stack", program, ["validate"]);
  const { values: [file], options } = parseArguments("stack validate", rest, ["FILE"], {
    "env-file": "value",
    profiles: "value",
    json: "flag",
  });
  const directory = resolve(dirname(file));
  const envFile = options["env-file"];
  const { project, errors, warnings } = loadProject({
    compose: readText(file),
    env: envFile === undefined ? undefined : readText(envFile),
    readFile: (path) => readIfThere(isAbsolute(path) ? path : join(directory, path)),
    profiles: options.profiles?.split(","),
    directory,
  });
  for (const issue of warnings) program.note(`${place(file, issue)}: warning: ${text(issue)}`);
  for (const issue of errors) program.note(`${place(file, issue)}: ${text(issue)}`);
  if (!project) return EXIT.failure;
  if (options.json) program.print(JSON.stringify(project, null, 2));
  else program.print(`${file}: valid; services: ${Object.keys(project.services).join(", ")}`);
  return EXIT.ok;
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
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
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
