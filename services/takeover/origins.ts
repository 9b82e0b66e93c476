/**
 * Origins of a stack: where the program that deployed it had its files, as the labels of the containers
 * say.
 *
 * @module
 */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { LABEL } from "../compose/labels.ts";
import { ENV_FILE } from "../compose/load/compose_file.ts";
import type { Container } from "../containers/inventory.ts";
import { unique } from "./unique.ts";

/** Paths are absolute, on the host or inside of the container of another program. */
export interface Origin {
  /** Base of relative paths. */
  directory: string;
  /** At least one. */
  configFiles: string[];
  /** Files of variables that were given when the stack was deployed, besides `.env`. */
  envFiles: string[];
}

const FILES_MAX = 20;
const PATH_MAX = 1024;

/**
 * The origins in the labels of a stack's containers; that of the newest container first. Containers
 * that a manager did not recreate name an older version of the files.
 *
 * @param containers Newest first.
 */
export const originsOf = (containers: readonly Container[]): Origin[] =>
  unique(containers.flatMap(({ labels }) => originIn(labels) ?? []), JSON.stringify);

function originIn(labels: Readonly<Record<string, string>>): Origin | undefined {
  const directory = labels[LABEL.workingDir] ?? "";
  if (!isPath(directory)) return undefined;
  const pathsIn = (label: string) =>
    (labels[label] ?? "").split(",").filter((path) => path !== "")
      .map((path) => resolve(directory, path));
  const configFiles = pathsIn(LABEL.configFiles);
  const named = pathsIn(LABEL.environmentFile);
  // `.env` is read in any case, and again where it comes after others.
  const envFiles = named[0] === join(directory, ENV_FILE) ? named.slice(1) : named;
  const all = [...configFiles, ...envFiles];
  if (configFiles.length === 0 || all.length > FILES_MAX || !all.every(isPath)) return undefined;
  return { directory: resolve(directory), configFiles, envFiles };
}

/** Control characters are not those of a file that a person named. */
const isPath = (path: string) =>
  isAbsolute(path) && path.length <= PATH_MAX && !/[\p{Cc}\\]/u.test(path) &&
  dirname(resolve(path)) !== resolve(path);

/**
 * The origin with its files at another path of the host, which a user has chosen.
 *
 * @param path Of the first Compose file.
 */
export function movedOrigin({ directory, configFiles, envFiles }: Origin, path: string): Origin {
  const [from, to] = [dirname(configFiles[0]!), dirname(path)];
  const moved = (file: string) => file.startsWith(`${from}/`) ? to + file.slice(from.length) : file;
  return {
    directory,
    configFiles: [path, ...configFiles.slice(1).map(moved)],
    envFiles: envFiles.map(moved),
  };
}
