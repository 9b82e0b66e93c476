/**
 * Sources of stacks on disk: the Compose files of a directory of the host, `.env` and the files that
 * they name.
 *
 * @module
 */

import { dirname, isAbsolute, join } from "node:path";
import { withoutValues } from "../containers/secret_values.ts";
import type { Deps } from "../deps.ts";
import { AppError, ChangedMeanwhileError, InputError, notFound } from "../errors.ts";
import { unifiedDiff } from "./diff.ts";
import { LABEL } from "./labels.ts";
import { COMPOSE_FILE, ENV_FILE, filesNamedIn } from "./load/compose_file.ts";
import { isInside } from "../text/paths.ts";
import { trimSlash } from "./load/paths.ts";
import { listMembers } from "./members.ts";
import type { HostFiles } from "./project_files.ts";
import {
  type DiskPlace,
  type LoaderDeps,
  loadGiven,
  placeInLoader,
  type StackSources,
  type StoredSources,
} from "./validate.ts";

/** Names in the order in which Compose looks for them. */
export const COMPOSE_NAMES = [
  "compose.yaml",
  "compose.yml",
  "docker-compose.yml",
  "docker-compose.yaml",
] as const;
export const OVERRIDE_NAMES = [
  "compose.override.yml",
  "compose.override.yaml",
  "docker-compose.override.yml",
  "docker-compose.override.yaml",
] as const;

/** Limit of the Compose files of a project, each of which is merged over those before. */
const CONFIG_FILES_MAX = 20;

/** Limit of the files of a project. */
const FILES_MAX = 200;

/** Limit of the texts of a project, in UTF-16 units. */
const TEXTS_MAX = 4 * 1024 * 1024;

/** Texts by absolute path. */
export type Texts = ReadonlyMap<string, string>;

/**
 * The Compose files of a directory that has none yet.
 *
 * @param env The text of `.env`, if any.
 * @throws {AppError} As `findPlace()`.
 */
export const newPlace = (directory: string, env?: string): DiskPlace =>
  namedPlace(directory, env) ??
    { directory, configFiles: [join(directory, COMPOSE_NAMES[0])], isFound: true };

/**
 * The Compose files of a directory: those of `COMPOSE_FILE` in its `.env`, or the usual ones.
 *
 * @param env The text of `.env`; by default the one on disk.
 * @throws {AppError} `conflict` for files that are not those of this directory.
 */
export async function findPlace(
  files: Pick<HostFiles, "read">,
  directory: string,
  env?: string,
): Promise<DiskPlace> {
  const named = namedPlace(directory, env ?? await files.read(join(directory, ENV_FILE)));
  if (named) return named;
  const firstOf = async (names: readonly string[]) => {
    for (const name of names) {
      const path = join(directory, name);
      if (await files.read(path) !== undefined) return [path];
    }
    return [];
  };
  const found = await firstOf(COMPOSE_NAMES);
  if (found.length === 0) return newPlace(directory);
  return { directory, configFiles: [...found, ...await firstOf(OVERRIDE_NAMES)], isFound: true };
}

/** Returns the place again if its files were found in the directory, which may have others now. */
export const refreshPlace = (
  files: HostFiles,
  place: DiskPlace,
  env?: string,
): Promise<DiskPlace> | DiskPlace => place.isFound ? findPlace(files, place.directory, env) : place;

function namedPlace(directory: string, env: string | undefined): DiskPlace | undefined {
  const names = env?.includes(COMPOSE_FILE) ? filesNamedIn(env) : undefined;
  if (!names) return undefined;
  const variable = `${COMPOSE_FILE} in ${join(directory, ENV_FILE)}`;
  if (names.length > CONFIG_FILES_MAX) {
    throw new AppError("conflict", `${variable} has more than ${CONFIG_FILES_MAX} files`);
  }
  const configFiles = names.map((name) => absolute(name, directory));
  if (dirname(configFiles[0]!) === directory) return { directory, configFiles, isFound: true };
  // Compose takes the directory of the first file for that of the project.
  throw new AppError(
    "conflict",
    `${variable} begins with a file of another directory; use the directory of that file`,
  );
}

/**
 * The place of a project that another program deployed, from the labels of its containers.
 *
 * @throws {AppError} `not_found` for a project without containers; `conflict` if the labels do not
 * name the files of one directory.
 * @param advice End of that message.
 */
export async function placeOfProject(
  { engine }: Pick<Deps, "engine">,
  name: string,
  advice = "send the Compose text in body.compose",
): Promise<DiskPlace> {
  const listed = await listMembers(engine, name);
  const labels = listed.map(({ Labels }) => Labels ?? {});
  if (labels.length === 0) throw notFound("Stack", name);
  const elsewhere = (what: string) => new AppError("conflict", `${what}; ${advice}`);
  const valueOf = (label: string) => {
    const values = new Set(labels.map((each) => each[label] ?? ""));
    if (values.size === 1) return [...values][0]!;
    throw elsewhere(`The containers of ${name} were deployed from different files`);
  };
  const directory = trimSlash(valueOf(LABEL.workingDir));
  const configFiles = valueOf(LABEL.configFiles).split(",").filter((file) => file !== "")
    .map((file) => absolute(file, directory));
  const envFile = valueOf(LABEL.environmentFile);
  if (!isAbsolute(directory) || configFiles.length === 0) {
    throw elsewhere(`The containers of ${name} do not have the labels with their Compose files`);
  }
  if (envFile !== "" && absolute(envFile, directory) !== join(directory, ENV_FILE)) {
    throw elsewhere(`${name} was deployed with the variables of ${envFile}`);
  }
  return { directory: join(directory), configFiles };
}

/**
 * Reads the Compose files and what they name.
 *
 * @param given Texts that are not on disk yet, and win over those that are.
 * @param recovered Values of variables that the files do not have.
 * @param isCopied Whether files of configs and secrets are read, too, instead of mounted.
 * @param hidesValues Whether errors have no values of variables, which may be parts of paths.
 * @throws {AppError} `conflict` if a Compose file does not exist, or a file cannot be read.
 */
export async function readSources(
  { composeLoader }: LoaderDeps,
  files: Pick<HostFiles, "read">,
  place: DiskPlace,
  { profiles, recovered, given = new Map(), isCopied = false, hidesValues = false }:
    & Pick<StoredSources, "profiles" | "recovered">
    & { given?: Texts; isCopied?: boolean; hidesValues?: boolean },
): Promise<StoredSources> {
  const { directory, configFiles } = place;
  const [main = ""] = configFiles;
  const envFile = join(directory, ENV_FILE);
  const known = new Map<string, string | undefined>(given);
  let size = 0;
  const read = async (path: string) => {
    if (!known.has(path)) known.set(path, await files.read(path));
    size += known.get(path)?.length ?? 0;
    if (known.size > FILES_MAX || size > TEXTS_MAX) {
      throw new AppError(
        "conflict",
        `The project in ${directory} has more than ${FILES_MAX} files, or more than 4 MiB`,
      );
    }
    return known.get(path);
  };

  const compose = await read(main);
  if (compose === undefined) throw new AppError("conflict", `${main} does not exist`);
  const env = await read(envFile);
  const used = new Set<string>();
  const isNew = (path: string) => !used.has(path);
  for (let isComplete = false; !isComplete;) {
    const texts = textsByName(known, directory);
    const options = { compose, env: env ?? "", profiles, recovered, files: texts };
    const inLoader = isCopied ? undefined : placeInLoader(place);
    const { asked, values } = await loadGiven(composeLoader.load, { ...options, ...inLoader });
    const missing = new Set(asked.map((path) => absolute(path, directory)).filter(isNew));
    for (const path of missing) {
      await read(path).catch((error) => {
        throw hidesValues ? withoutValues(error, values) : error;
      });
      used.add(path);
    }
    isComplete = missing.size === 0;
  }

  const sources: StoredSources & Record<"files" | "outside", Record<string, string>> = {
    compose,
    ...(env !== undefined && { env }),
    files: {},
    outside: {},
    ...(profiles && { profiles }),
    ...(recovered && { recovered }),
    place,
  };
  for (const path of [...used].sort()) {
    const text = known.get(path);
    if (text === undefined || path === main || path === envFile) continue;
    const part = isInside(path, directory) ? sources.files : sources.outside;
    part[nameIn(path, directory)] = text;
  }
  return sources;
}

/** The name by which the loader knows a file. */
const nameIn = (path: string, directory: string) =>
  isInside(path, directory) ? path.slice(directory.length + 1) : path;

const textsByName = (texts: ReadonlyMap<string, string | undefined>, directory: string) =>
  Object.fromEntries(
    [...texts].flatMap(([path, text]) =>
      text === undefined ? [] : [[nameIn(path, directory), text]]
    ),
  );

/**
 * The given sources as files.
 *
 * @throws {InputError} For variables as an object, whose form on disk is not defined, and for the Compose
 * file among the files.
 */
export function textsOf(
  { directory, configFiles: [main = ""] }: DiskPlace,
  { compose, env, files = {} }: Partial<Pick<StackSources, "compose" | "env" | "files">>,
): Map<string, string> {
  const texts = new Map<string, string>();
  if (compose !== undefined) texts.set(main, compose);
  if (typeof env === "string") texts.set(join(directory, ENV_FILE), env);
  else if (env) {
    const message = "must be the text of .env, because the stack is on disk";
    throw new InputError([{ path: "body.env", message }]);
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    if (path === main) {
      const message = "is the Compose file, whose text belongs into body.compose";
      throw new InputError([{ path: `body.files.${name}`, message }]);
    }
    texts.set(path, text);
  }
  return texts;
}

/** @throws {ChangedMeanwhileError} If a file exists with another text. */
export async function assertNotOverwritten(files: HostFiles, texts: Texts): Promise<void> {
  for (const [path, text] of texts) {
    const found = await files.read(path);
    if (found === undefined || found === text) continue;
    throw new ChangedMeanwhileError(
      `${path} exists with another text; leave out body.compose to use the files of the directory`,
      unifiedDiff(found, text, { from: `${path} (on disk)`, to: `${path} (sent)` }),
    );
  }
}

const absolute = (path: string, directory: string) =>
  isAbsolute(path) ? join(path) : join(directory, path);
