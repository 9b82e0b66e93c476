/** Checks the sources of a stack without storing or deploying them. @module */

import type { ComposeKeys } from "./load/completion.ts";
import type { Holder } from "../access/shares.ts";
import type { Deps } from "../deps.ts";
import type { LoadedProject } from "./load/load.ts";
import type { Project } from "./load/resolve.ts";
import type { LoadIssue, UnbuiltImage } from "./load/scope.ts";
import type { GivenSources, LoadedTexts } from "./load/texts.ts";
import type { SourceOrigin } from "./origin.ts";

/** The sources of a stack as users send them. */
export interface StackSources {
  /** The Compose text. */
  compose: string;
  /** The text of `.env`, or its variables. */
  env?: string | Record<string, string> | undefined;
  /** Texts by relative path. */
  files?: Record<string, string> | undefined;
  profiles?: string[] | undefined;
}

/** Location of a stack on disk. */
export interface DiskPlace {
  /** Absolute path on the host. */
  directory: string;
  /** Absolute paths: the file with the Compose text, then those that override it. */
  configFiles: string[];
  /**
   * Whether the files are those that Compose finds in the directory, which may be others later;
   * otherwise they were given when the project was deployed.
   */
  isFound?: boolean | undefined;
  /** Absolute paths of further files of variables, which win over `.env` and need not exist. */
  envFiles?: string[] | undefined;
}

/** Sources as they are stored. */
export interface StoredSources extends StackSources {
  /** Of a stack on disk; the texts are those that were read there. */
  place?: DiskPlace | undefined;
  /**
   * Of a stack that is stored here, but was deployed from elsewhere: its location for the program that
   * deployed it. Relative paths refer to it, because the engine mounts what is there.
   */
  base?: DiskPlace | undefined;
  /** Files outside of the project's directory by absolute path. */
  outside?: Record<string, string> | undefined;
  /** Values of variables that no file has, from the containers. */
  recovered?: Record<string, string> | undefined;
  /** Of a stack that another program has deployed. */
  origin?: SourceOrigin | undefined;
}

export interface StackValidation {
  valid: boolean;
  errors: LoadIssue[];
  warnings: LoadIssue[];
  /** Names of the active services. */
  services: string[];
  /** `null` unless valid. */
  resolved: Project | null;
}

/** Parts of stored sources that users do not send, and that new sources keep. */
export const keptSources = (
  { base, outside, recovered, origin }: StoredSources,
): Partial<StoredSources> => ({
  ...(base && { base, outside }),
  ...(recovered && { recovered }),
  ...(origin && { origin }),
});

/** Facts about a stack besides its sources. */
export type StackPlace =
  & Pick<GivenSources, "name" | "directory" | "refusesRelative">
  & Required<Pick<GivenSources, "bindAllow">>;

export type LoaderDeps = Pick<Deps, "composeLoader">;

/**
 * Loads the sources as a project; a stack on disk has its own directory.
 *
 * @throws {AppError} As `ComposeLoader.load()`.
 */
export async function loadStack(
  { composeLoader }: LoaderDeps,
  sources: StoredSources,
  place: StackPlace,
): Promise<LoadedProject> {
  const { project, contents, ...loaded } = await loadGiven(
    composeLoader.load,
    givenSources(sources, place),
  );
  return { ...loaded, project: project ?? undefined, contents: new Map(contents) };
}

/** Loads sources as plain data. @param load One of the methods of the loader. */
export const loadGiven = async (
  load: (job: string) => Promise<string>,
  sources: GivenSources,
): Promise<LoadedTexts> => JSON.parse(await load(JSON.stringify(sources)));

/** The sources as the loader takes them. */
export function givenSources(
  { compose, env, files = {}, profiles, place: disk, base, outside = {}, recovered }: StoredSources,
  place: StackPlace,
): GivenSources {
  return {
    compose,
    ...(typeof env === "string" ? { env } : { variables: env }),
    profiles,
    files: { ...files, ...outside },
    recovered,
    ...placeInLoader(disk ?? base),
    ...place,
  };
}

export const placeInLoader = (place: DiskPlace | undefined) =>
  place && {
    directory: place.directory,
    configFiles: place.configFiles,
    envFiles: place.envFiles,
  };

/**
 * Reports what is wrong with the sources, and what they mean.
 *
 * @param caller Its share of the checks is limited.
 * @param findUnbuilt Returns errors of images that the engine does not have.
 * @throws {AppError} As `ComposeLoader.load()`.
 */
export async function validateStack(
  { composeLoader }: LoaderDeps,
  caller: Holder,
  sources: StackSources,
  place: StackPlace,
  findUnbuilt: (builds: readonly UnbuiltImage[]) => Promise<LoadIssue[]>,
): Promise<StackValidation> {
  const check = (job: string) => composeLoader.check(caller, job);
  const loaded = await loadGiven(check, givenSources(sources, place));
  const errors = [...loaded.errors, ...await findUnbuilt(loaded.builds)];
  const project = errors.length === 0 ? loaded.project : null;
  return {
    valid: errors.length === 0,
    errors,
    warnings: loaded.warnings,
    services: Object.keys(loaded.project?.services ?? {}),
    resolved: project,
  };
}

/** The keys of Compose files that have an effect, for editors. */
export async function getComposeKeys(): Promise<ComposeKeys> {
  const { listComposeKeys } = await import("./load/completion.ts");
  return listComposeKeys();
}
