/**
 * Origins of a stack: where the program that deployed it had its files, as the labels of the containers
 * say.
 *
 * @module
 */

import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { COMPOSE_NAMES } from "../compose/disk_sources.ts";
import { LABEL } from "../compose/labels.ts";
import { ENV_FILE } from "../compose/load/compose_file.ts";
import type { Container } from "../containers/inventory.ts";
import { unique } from "../unique.ts";

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
export function originsOf(containers: readonly Container[]): Origin[] {
  const each = containers.map(({ labels }) => originsIn(labels));
  const likeliest = each.flatMap((origins) => origins.slice(0, 1));
  return unique([...likeliest, ...each.flatMap((origins) => origins.slice(1))], JSON.stringify);
}

/** The likeliest first. */
function originsIn(labels: Readonly<Record<string, string>>): Origin[] {
  const directory = labels[LABEL.workingDir] ?? "";
  const pathsIn = (label: string) => (labels[label] ?? "").split(",").filter((path) => path !== "");
  const files = pathsIn(LABEL.configFiles);
  const named = pathsIn(LABEL.environmentFile);
  const [first] = files;
  if (!isPath(directory) || first === undefined) return [];
  const from = dirname(resolve(directory, first));
  if (from === resolve(directory) || isAbsolute(first)) return toOrigins(directory, files, named);
  // docker-compose 1 was started elsewhere, and its relative paths are those of that directory.
  const moved = (path: string) =>
    isAbsolute(path) ? path : relative(from, resolve(directory, path));
  return [
    ...toOrigins(directory, files.map(moved), named.map(moved)),
    ...toOrigins(directory, files, named),
    ...COMPOSE_NAMES.flatMap((name) => toOrigins(directory, [name], named.map(moved))),
  ];
}

/** @returns None for labels that do not come from a program that deploys stacks. */
function toOrigins(
  directory: string,
  files: readonly string[],
  environment: readonly string[],
): Origin[] {
  const configFiles = files.map((path) => resolve(directory, path));
  const named = environment.map((path) => resolve(directory, path));
  // `.env` is read in any case, and again where it comes after others.
  const envFiles = named[0] === join(directory, ENV_FILE) ? named.slice(1) : named;
  const all = [...configFiles, ...envFiles];
  if (all.length > FILES_MAX || !all.every(isPath)) return [];
  return [{ directory: resolve(directory), configFiles, envFiles }];
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
