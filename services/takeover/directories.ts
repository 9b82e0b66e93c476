/** Directories below STACK_ROOTS with a Compose file and without containers. @module */

import { join } from "node:path";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import { findPlace, readSources } from "../compose/disk_sources.ts";
import { issueText } from "../compose/load/scope.ts";
import { type FileDeps, type HostFiles, withMountedFiles } from "../compose/project_files.ts";
import { loadStack } from "../compose/validate.ts";
import { reasonOf } from "./reading.ts";
import type { StackDirectory, TakeoverReport } from "./report.ts";

/** Directories that are read below one of STACK_ROOTS. */
const DIRECTORIES_MAX = 500;

/**
 * @param taken Directories of stacks that have containers, or are known here.
 * @returns The directories, and those of STACK_ROOTS that this service cannot list.
 */
export async function findDirectories(
  deps: FileDeps & Pick<Deps, "self">,
  taken: ReadonlySet<string>,
): Promise<Pick<TakeoverReport, "directories" | "unlisted">> {
  const found: StackDirectory[] = [];
  const unlisted: string[] = [];
  for (const root of deps.config.stackRoots) {
    const names = await namesIn(deps, root);
    if (!names) unlisted.push(root);
    const paths = (names ?? []).map((name) => join(root, name)).filter((path) => !taken.has(path));
    if (paths.length === 0) continue;
    try {
      await withMountedFiles(deps, { type: "bind", source: root, at: root }, async (filesOf) => {
        for (const path of paths) {
          const directory = await readDirectory(deps, path, filesOf);
          if (directory) found.push(directory);
        }
      });
    } catch (error) {
      if (asAppError(error)?.code !== "conflict") throw error;
    }
  }
  return { directories: found, unlisted };
}

/**
 * Names of the directories in one of STACK_ROOTS. They are hints only: each is read through the
 * engine, because this service may run in a container that has other directories.
 *
 * @returns `undefined` if it cannot be listed.
 */
async function namesIn(
  { self }: Pick<Deps, "self">,
  root: string,
): Promise<string[] | undefined> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(root)) {
      if (isDirectory && !/[\p{Cc}\\,]/u.test(name)) names.push(name);
      if (names.length >= DIRECTORIES_MAX) break;
    }
  } catch (error) {
    // The host's own directory is another one for a service in a container.
    const isMissing = error instanceof Deno.errors.NotFound && !self.isContainerized;
    return isMissing ? [] : undefined;
  }
  return names.sort();
}

async function readDirectory(
  deps: FileDeps,
  path: string,
  filesOf: (directory: string) => Promise<HostFiles>,
): Promise<StackDirectory | undefined> {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase().replace(/[^a-z0-9_-]/g, "");
  try {
    const files = await filesOf(path);
    const place = await findPlace(files, path);
    if (await files.read(place.configFiles[0]!) === undefined) return undefined;
    const sources = await readSources(deps, files, place, { profiles: undefined });
    const { bindAllow } = deps.config;
    const { project, errors: [error] } = await loadStack(deps, sources, {
      name,
      refusesRelative: true,
      bindAllow,
    });
    if (project) return { name, path, services: Object.keys(project.services) };
    return { name, path, services: [], error: issueText(error!) };
  } catch (error) {
    return { name, path, services: [], error: reasonOf(deps, path, error) };
  }
}
