/** Sources that a request has sent, before they are stored or planned. @module */

import { selectCurrentVersion } from "../../db/stack_versions.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import { valueHider } from "../containers/secret_values.ts";
import type { Deps } from "../deps.ts";
import { AppError, InputError } from "../errors.ts";
import { findPlace, readSources, refreshPlace, textsOf } from "./disk_sources.ts";
import type { LoadedProject } from "./load/load.ts";
import type { Project } from "./load/resolve.ts";
import type { LoadIssue } from "./load/scope.ts";
import { type FileDeps, withHostFiles } from "./project_files.ts";
import {
  keptSources,
  type LoaderDeps,
  loadStack,
  type StackSources,
  type StoredSources,
} from "./validate.ts";
import { openVersion } from "./versions.ts";

/** The text of `.env`, if it is given as a text. */
export const textOf = (env: StackSources["env"]) => typeof env === "string" ? env : undefined;

export const required = (path: string) => new InputError([{ path, message: "is required" }]);

/**
 * The given sources as they would be stored: those of a stack on disk are completed with the files
 * of its directory.
 *
 * @throws {AppError} `conflict` for files that cannot be read; `forbidden` for a caller who may not
 * see values, because the text decides which variables and files of the host are shown.
 */
export async function completeSources(
  deps: FileDeps & Pick<Deps, "db" | "secrets">,
  caller: Pick<Caller, "role">,
  name: string,
  given: StackSources,
): Promise<StoredSources> {
  const stored = selectCurrentVersion(deps.db, name);
  if (!stored) return given;
  const { sources } = openVersion(deps, stored);
  const { place, recovered } = sources;
  // A text can show the recovered values, and the files that it names.
  if (place || recovered || sources.base) assertMayReadFiles(caller);
  if (!place) return { ...given, ...keptSources(sources) };
  return await withHostFiles(deps, place.directory, "read", async (files) => {
    const found = await refreshPlace(files, place, textOf(given.env));
    const texts = textsOf(found, given);
    const { profiles } = given;
    return {
      ...await readSources(deps, files, found, { profiles, recovered, given: texts }),
      ...keptSources(sources),
    };
  });
}

function assertMayReadFiles({ role }: Pick<Caller, "role">): void {
  if (includesRole(role, "admin")) return;
  throw new AppError(
    "forbidden",
    "Plans of other sources of a stack on disk need the role admin",
  );
}

/**
 * The sources in the files of a directory, for a plan.
 *
 * @throws {AppError} `invalid` without a directory; `forbidden` as `completeSources()`; `conflict` for
 * files that cannot be read.
 */
export async function readDirectory(
  deps: FileDeps,
  caller: Pick<Caller, "role">,
  directory: string | undefined,
  profiles: string[] | undefined,
): Promise<StoredSources> {
  if (directory === undefined) throw required("body.sources.compose");
  assertMayReadFiles(caller);
  return await withHostFiles(
    deps,
    directory,
    "read",
    async (files) =>
      await readSources(deps, files, await findPlace(files, directory), { profiles }),
  );
}

/**
 * Loads sources that can be deployed.
 *
 * @param options.hidesValues Whether errors are shown to others than the author of the sources; they
 * have no values of variables then.
 * @throws {InputError} If there are errors.
 * @throws {AppError} As `ComposeLoader.load()`.
 */
export async function loadDeployable(
  deps: LoaderDeps & Pick<Deps, "config">,
  sources: StoredSources,
  name: string,
  { hidesValues = false } = {},
): Promise<LoadedProject & { project: Project }> {
  const { bindAllow } = deps.config;
  const loaded = await loadStack(deps, sources, { name, refusesRelative: true, bindAllow });
  const { errors, project, values } = loaded;
  if (!project) {
    const shown = valueHider(hidesValues ? values : []);
    const issues = errors.map(toInputIssue);
    throw new InputError(issues.map((issue) => ({ ...issue, message: shown(issue.message) })));
  }
  return { ...loaded, project };
}

/** The error of a request with sources, from a problem of the sources. */
export const toInputIssue = ({ file, line, column, path, message }: LoadIssue) => ({
  path: file === null ? "body.compose" : `body.files.${file}`,
  message: `${line}:${column} ${path === "" ? "" : `${path} `}${message}`,
});
