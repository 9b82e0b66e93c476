/**
 * Files of the host below STACK_ROOTS, read and written through the engine: an empty container has
 * the directory mounted at the same path and is never started. Longshore needs no permission on
 * the files, and it does not matter whether it runs in a container itself. Symbolic links that lead
 * out of the directory end in the empty container.
 *
 * @module
 */

import { resolve } from "node:path";
import {
  containerArchive,
  containerExtract,
  containerStat,
} from "../../../engine/container_archive.ts";
import { containerCreate, containerRemove } from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import { imageImport, imageInspect } from "../../../engine/images.ts";
import { readFirstFile, TAR_BLOCK_BYTES, TarError, type TarOwner } from "../../backup/tar.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { HELPER_IMAGE, HELPER_LABEL, helperMark } from "../containers/helpers.ts";
import { archiveOf, type ContainerFile } from "./deploy/files.ts";
import { isInside } from "./load/paths.ts";

/** Largest file, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

/** A file with the headers and the padding of its archive. */
const ARCHIVE_BYTES_MAX = FILE_BYTES_MAX + 64 * 1024;

/** Modes of new files: containers of any user read those that are mounted. */
const READABLE = 0o644;
const PRIVATE = 0o600;

/** Limit of symbolic links from a path to its file, as that of most systems. */
const LINKS_MAX = 40;

/** The files below one directory of STACK_ROOTS. Paths are absolute. */
export interface HostFiles {
  /**
   * Returns the text of a file, `undefined` if it does not exist or is not in the directory.
   *
   * @throws {AppError} `conflict` for anything but a text within the limit, and for a symbolic link
   * out of the directory.
   */
  read(path: string): Promise<string | undefined>;
  /**
   * Writes files that have another text, with the directories that are missing. Existing ones keep
   * their owner and mode.
   *
   * @param ownerOf An existing file whose owner new ones get; by default root.
   * @throws {AppError} As `read()`, and `conflict` with the engine's reason.
   */
  write(texts: ReadonlyMap<string, string>, ownerOf: string): Promise<void>;
}

/** What requests for files need. */
export type FileDeps = Pick<
  Deps,
  "config" | "engine" | "limiters" | "log" | "now" | "server" | "startedAt"
>;

/**
 * Opens the directory of STACK_ROOTS that a directory is in. Requests take turns, so that what `work`
 * reads is not changed by another one.
 *
 * @throws {AppError} `conflict` for a directory outside of STACK_ROOTS, and for a root that does not
 * exist on the host.
 */
export async function withHostFiles<Result>(
  deps: FileDeps,
  directory: string,
  access: "read" | "write",
  work: (files: HostFiles) => Promise<Result>,
): Promise<Result> {
  const root = rootOf(deps, directory);
  return await deps.limiters.projectFiles(async () => {
    const id = await createHelper(deps, root, access);
    try {
      return await work(hostFiles(deps, id, root));
    } finally {
      await removeHelper(deps, id);
    }
  });
}

/** @throws {AppError} `conflict` */
function rootOf({ config: { stackRoots } }: Pick<Deps, "config">, directory: string): string {
  const root = stackRoots.find((each) => directory !== each && isInside(directory, each));
  if (root !== undefined) return root;
  throw new AppError(
    "conflict",
    `${directory} is not below a directory of STACK_ROOTS (${stackRoots.join(", ") || "empty"})`,
  );
}

async function createHelper(
  deps: FileDeps,
  root: string,
  access: "read" | "write",
): Promise<string> {
  const { engine } = deps;
  if (!await ifThere(imageInspect(engine, HELPER_IMAGE))) {
    await imageImport(engine, { name: HELPER_IMAGE, archive: new Uint8Array(2 * TAR_BLOCK_BYTES) });
  }
  try {
    const { id } = await containerCreate(engine, {
      body: {
        Image: HELPER_IMAGE,
        // The engine requires a command, although the container is never started.
        Cmd: ["/none"],
        Labels: { [HELPER_LABEL]: helperMark(deps) },
        HostConfig: {
          NetworkMode: "none",
          // Unlike with Binds, a missing directory is an error.
          Mounts: [{ Type: "bind", Source: root, Target: root, ReadOnly: access === "read" }],
        },
      },
    });
    return id;
  } catch (error) {
    if (!(error instanceof EngineError) || !/bind source path|no such file/i.test(error.message)) {
      throw error;
    }
    throw new AppError("conflict", `Directory ${root} does not exist on the host; create it`, {
      cause: error,
    });
  }
}

async function removeHelper({ engine, log }: FileDeps, id: string): Promise<void> {
  try {
    await ifThere(containerRemove(engine, id, { force: true, volumes: true }));
  } catch (error) {
    // The next listing of containers removes it.
    if (!(error instanceof EngineError || error instanceof EngineUnreachableError)) throw error;
    log.warn("helper container not removed", { id, error: error.message });
  }
}

function hostFiles({ engine, now }: FileDeps, id: string, root: string): HostFiles {
  const directories = new Set<string>();

  /** Follows symbolic links: all of them must be in the root. */
  const locate = async (path: string): Promise<{ path: string; isThere: boolean }> => {
    let at = root;
    let rest = namesIn(root, resolve(path));
    let links = 0;
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      const next = `${at}/${name}`;
      if (directories.has(next)) {
        at = next;
        continue;
      }
      const found = await containerStat(engine, id, { path: next });
      if (!found) return { path: [next, ...rest].join("/"), isThere: false };
      const { linkTarget, isDirectory, size } = found;
      if (linkTarget !== "") {
        const target = resolve(at, linkTarget);
        if (!isInside(target, root) || ++links > LINKS_MAX) {
          throw new AppError(
            "conflict",
            `${next} is a symbolic link to ${linkTarget}, which is not in ${root}`,
          );
        }
        rest = [...namesIn(root, target), ...rest];
        at = root;
        continue;
      }
      at = next;
      if (isDirectory) directories.add(next);
      else if (size > FILE_BYTES_MAX) {
        throw new AppError("conflict", `${path} is larger than 1 MiB`);
      }
    }
    if (directories.has(at)) throw new AppError("conflict", `${path} is a directory`);
    return { path: at, isThere: true };
  };

  const open = async (path: string) => {
    const located = await locate(path);
    const archive = located.isThere
      ? await containerArchive(engine, id, { path: located.path, bytesMax: ARCHIVE_BYTES_MAX })
      : undefined;
    return { path: located.path, found: archive && decode(path, archive) };
  };

  return {
    read: async (path) =>
      isInside(resolve(path), root) ? (await open(path)).found?.text : undefined,
    async write(texts, ownerOf) {
      const { uid = 0, gid = 0 } = (await open(ownerOf)).found ?? {};
      const written: string[] = [];
      const files: ContainerFile[] = [];
      for (const [name, text] of texts) {
        if (!isInside(resolve(name), root)) {
          throw new AppError("conflict", `${name} is not in ${root}`);
        }
        const { path, found } = await open(name);
        if (found?.text === text) continue;
        const mode = name.endsWith("/.env") ? PRIVATE : READABLE;
        // Podman extracts into the mount only if the archive is for the mount itself.
        files.push({ uid, gid, mode, ...found, path: path.slice(root.length), text });
        written.push(path);
      }
      if (files.length === 0) return;
      try {
        await containerExtract(engine, id, { path: root, archive: archiveOf(files, now()) });
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        throw new AppError(
          "conflict",
          `${written.join(", ")} could not be written: ${error.message}`,
          {
            cause: error,
          },
        );
      }
    },
  };
}

/** The parts of a path behind a directory that it is in. */
const namesIn = (directory: string, path: string) =>
  path.slice(directory.length).split("/").filter((name) => name !== "");

function decode(path: string, archive: Uint8Array): TarOwner & { text: string } {
  try {
    const { bytes, owner } = readFirstFile(archive);
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { ...owner, text: decoder.decode(bytes) };
  } catch (error) {
    const what = error instanceof TarError ? "is not a regular file" : "is not text in UTF-8";
    throw new AppError("conflict", `${path} ${what}`, { cause: error });
  }
}
