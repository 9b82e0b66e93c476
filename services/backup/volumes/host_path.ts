/**
 * Directories and files of the host below `STACK_ROOTS`, written and deleted without following links: the
 * directory of `STACK_ROOTS` is mounted, and no name in the path below it may be a link. Podman follows
 * links there, but not out of the mount. Containers that have the path or one around it mounted must not
 * run meanwhile.
 *
 * @module
 */

import { containerStat } from "../../../engine/container_archive.ts";
import { type MountSource, removeHelper } from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { TarError } from "../tar.ts";
import type { ByteString, Entries, Entry } from "../restic/entry.ts";
import { bytesOf, entriesBelow } from "../restic/entry_directory.ts";
import { readArchive } from "./engine_reading.ts";
import { findHelperImage } from "./helper_image.ts";
import { createSkipList } from "./limits.ts";
import { createVolumeHelper, type VolumeDeps } from "./mounted.ts";
import { deletePath } from "./operations.ts";
import { helperShell } from "./shell.ts";
import { writeVolume, type Written } from "./write.ts";

/** A path of the host, as far as it exists. */
export interface HostPath {
  /** The directory of `STACK_ROOTS`. */
  root: MountSource;
  /** Names below it. */
  names: string[];
  /** Number of names that exist. */
  existing: number;
  /** Whether the whole path is a directory. */
  isDirectory: boolean;
}

/**
 * Finds out what exists of a path.
 *
 * @throws {AppError} `conflict` for a path that is not below `STACK_ROOTS`, and behind a link or a file.
 */
export async function findHostPath(
  deps: VolumeDeps,
  path: string,
  signal: AbortSignal,
): Promise<HostPath> {
  const { root, names } = splitPath(deps, path);
  const { id, root: mount } = await createVolumeHelper(deps, root, { isReadOnly: true, signal });
  try {
    for (const [existing, name] of names.entries()) {
      const at = names.slice(0, existing + 1).join("/");
      const found = await containerStat(deps.engine, id, { path: `/${mount}/${at}`, signal });
      if (!found) return { root, names, existing, isDirectory: false };
      if (found.linkTarget !== "") {
        throw new AppError(
          "conflict",
          `${root.source}/${at} is a symbolic link; use the real path`,
        );
      }
      const isLast = existing === names.length - 1;
      if (!found.isDirectory && !(isLast && found.isRegular)) {
        throw new AppError("conflict", `${root.source}/${at} is in the way: ${name} is a file`);
      }
      if (isLast) return { root, names, existing: names.length, isDirectory: found.isDirectory };
    }
    throw new Error(`No name in ${path}`);
  } finally {
    await removeHelper(deps, id);
  }
}

/** @throws {AppError} `conflict` for a path that is not below `STACK_ROOTS`. */
function splitPath(
  { config: { stackRoots } }: Pick<Deps, "config">,
  path: string,
): Pick<HostPath, "root" | "names"> {
  const source = stackRoots.find((each) => path.startsWith(`${each}/`));
  const names = source === undefined ? [] : path.slice(source.length + 1).split("/");
  if (source === undefined || names.some((name) => ["", ".", ".."].includes(name))) {
    const roots = stackRoots.join(", ") || "empty";
    throw new AppError("conflict", `${path} is not below a directory of STACK_ROOTS (${roots})`);
  }
  return { root: { type: "bind", source }, names };
}

/**
 * Whether there is a file, or a directory with anything in it.
 *
 * @throws {AppError} `conflict` for a link, which {@linkcode findHostPath} does not see with Podman.
 */
export async function hasContent(
  deps: VolumeDeps,
  { root, names, existing, isDirectory }: HostPath,
  signal: AbortSignal,
): Promise<boolean> {
  if (existing < names.length) return false;
  if (!isDirectory) return true;
  const path = bytesOf(names.join("/"));
  const reading = { source: root, path, images: [], skipped: createSkipList(), signal };
  try {
    for await (const entry of readArchive(deps, reading)) if (entry.path !== path) return true;
    return false;
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    // Podman follows links inside of the mount, so that the archive has another name.
    throw new AppError("conflict", `${root.source}/${names.join("/")} is not a real directory`, {
      cause: error,
    });
  }
}

/**
 * Writes what belongs to a path, with the directories that are missing around it.
 *
 * @param entries With paths relative to it; "" is the directory or file itself.
 * @throws {AppError} As {@linkcode findHostPath} and `writeVolume()`.
 */
export async function writeHostPath(
  deps: VolumeDeps,
  path: string,
  entries: Entries,
  options: { signal: AbortSignal; onProgress?: ((bytes: number) => void) | undefined },
): Promise<Written> {
  const { root, names, existing } = await findHostPath(deps, path, options.signal);
  const around = Math.min(existing, names.length - 1);
  const below = bytesOf(names.slice(0, around).join("/"));
  const missing = names.slice(around).map(bytesOf);
  return await writeVolume(deps, root, inDirectories(missing, entries), { ...options, below });
}

/**
 * Writes files into an existing directory.
 *
 * @param entries With paths relative to it.
 * @throws {AppError} `conflict` if it does not exist, and as {@linkcode writeHostPath}.
 */
export async function writeIntoHostPath(
  deps: VolumeDeps,
  path: string,
  entries: Entries,
  options: { signal: AbortSignal; onProgress?: ((bytes: number) => void) | undefined },
): Promise<Written> {
  const { root, names, isDirectory } = await findHostPath(deps, path, options.signal);
  if (!isDirectory) throw new AppError("conflict", `${path} is not a directory on this host`);
  const below = bytesOf(names.join("/"));
  return await writeVolume(deps, root, entries, { ...options, below });
}

/** The last of the names is that of what the entries are. */
async function* inDirectories(
  names: readonly ByteString[],
  entries: Entries,
): Entries & AsyncGenerator<Entry> {
  for (let count = 1; count < names.length; count++) {
    yield { ...NEW_DIRECTORY, path: names.slice(0, count).join("/") };
  }
  yield* entriesBelow(names.join("/"), entries);
}

const NEW_DIRECTORY = { type: "dir", mode: 0o755, uid: 0, gid: 0, mtime: 0n, size: 0 } as const;

/**
 * Deletes a path with everything in it, if it exists. The programs of `HELPER_IMAGE` do so: the directory
 * of `STACK_ROOTS` has other stacks, which an image of this one must not change.
 *
 * @throws {AppError} As `deletePath()`; `conflict` without `HELPER_IMAGE`.
 */
export async function deleteHostPath(
  deps: VolumeDeps,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { root: source, names, existing } = await findHostPath(deps, path, signal);
  if (existing < names.length) return;
  const image = await findHelperImage(deps, [], signal);
  await deletePath(helperShell(deps, { source, image }), bytesOf(names.join("/")), signal);
}
