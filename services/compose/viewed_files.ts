/**
 * Files that a helper container has mounted. A container may write to the directory of its own stack,
 * at any time: symbolic links that lead out of it end in the empty container.
 *
 * @module
 */

import { join, resolve } from "node:path";
import {
  containerArchive,
  containerExtract,
  containerStat,
} from "../../engine/container_archive.ts";
import { EngineError } from "../../engine/errors.ts";
import { readFirstFile, TarError, type TarOwner } from "../backup/tar.ts";
import { AppError } from "../errors.ts";
import { archiveOf, type ContainerFile } from "./deploy/files.ts";
import type { Deps } from "../deps.ts";
import { isInside } from "../text/paths.ts";

/** Dependencies of requests for files. */
export type FileDeps = Pick<
  Deps,
  "composeLoader" | "config" | "engine" | "limiters" | "log" | "now" | "server" | "startedAt"
>;

/** Largest file, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

/** A file with the headers and the padding of its archive. */
const ARCHIVE_BYTES_MAX = FILE_BYTES_MAX + 64 * 1024;

/** Modes of new files: containers of any user read those that are mounted. */
const READABLE = 0o644;
const PRIVATE = 0o600;

/** Limit of symbolic links from a path to its file, as that of most systems. */
const LINKS_MAX = 40;

/** The files of a stack's directory, and those around it. Paths are absolute. */
export interface HostFiles {
  /**
   * Returns the text of a file, `undefined` if it does not exist or is not in STACK_ROOTS.
   *
   * @throws {AppError} `conflict` for anything but a text within the limit, and for a symbolic link
   * out of the stack's directory, or out of that of another stack.
   */
  read(path: string): Promise<string | undefined>;
  /** When a file was changed, in Unix milliseconds; `undefined` if it does not exist or is a link. */
  modifiedAt(path: string): Promise<number | undefined>;
  /**
   * Writes files of the stack's directory that have another text, with the directories that are
   * missing. Existing ones keep their owner and mode.
   *
   * @param ownerOf An existing file whose owner new ones get; by default root.
   * @throws {AppError} As `read()`, and `conflict` with the engine's reason.
   */
  write(texts: ReadonlyMap<string, string>, ownerOf: string): Promise<void>;
}

/** A directory, as the helper container has it. */
export interface View {
  /** Its path for the files in it: on the host, or in the container whose mount it is. */
  host: string;
  /** Path in the container. */
  mount: string;
}

/** A helper container. */
export interface Helper {
  id: string;
  root: View;
  /** The stack's directory; if it does not exist yet, it is created in the root. */
  directory: View | undefined;
}

export function viewedFiles(
  { engine, now }: Pick<FileDeps, "engine" | "now">,
  helper: Helper,
  directory: string,
): HostFiles {
  const { id, root } = helper;
  const directories = new Set<string>();

  const viewOf = (path: string): View | undefined => {
    if (!isInside(path, root.host)) return undefined;
    return isInside(path, directory) ? helper.directory ?? root : root;
  };

  /** Links stay in the directory of their stack: by default the first level below the root. */
  const homeOf = (path: string) =>
    isInside(path, directory) ? directory : join(root.host, namesIn(root.host, path)[0]!);

  /** Follows symbolic links. */
  const locate = async (view: View, path: string): Promise<{ path: string; isThere: boolean }> => {
    let at = view.host;
    let rest = namesIn(view.host, path);
    let links = 0;
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      const next = `${at}/${name}`;
      if (directories.has(next)) {
        at = next;
        continue;
      }
      const found = await containerStat(engine, id, { path: pathIn(view, next) });
      if (!found) return { path: [next, ...rest].join("/"), isThere: false };
      const { linkTarget, isDirectory, isRegular, size } = found;
      if (linkTarget !== "") {
        const target = resolve(at, linkTarget);
        if (!isInside(target, homeOf(next)) || ++links > LINKS_MAX) {
          throw new AppError(
            "conflict",
            `${next} is a symbolic link to ${linkTarget}, which is not in ${homeOf(next)}`,
          );
        }
        rest = [...namesIn(view.host, target), ...rest];
        at = view.host;
        continue;
      }
      at = next;
      if (isDirectory) directories.add(next);
      else if (!isRegular) throw new AppError("conflict", `${path} is not a regular file`);
      else if (size > FILE_BYTES_MAX) {
        throw new AppError("conflict", `${path} is larger than 1 MiB`);
      }
    }
    if (directories.has(at)) throw new AppError("conflict", `${path} is a directory`);
    return { path: at, isThere: true };
  };

  const open = async (view: View, path: string) => {
    const located = await locate(view, path);
    const archive = located.isThere
      ? await containerArchive(engine, id, {
        path: pathIn(view, located.path),
        bytesMax: ARCHIVE_BYTES_MAX,
      })
      : undefined;
    return { path: located.path, found: archive && decode(path, archive) };
  };

  return {
    async read(name) {
      const path = resolve(name);
      const view = viewOf(path);
      return view && (await open(view, path)).found?.text;
    },
    async modifiedAt(name) {
      const path = resolve(name);
      const view = viewOf(path);
      const found = view && await containerStat(engine, id, { path: pathIn(view, path) });
      return found && found.linkTarget === "" ? found.modifiedAtMs : undefined;
    },
    async write(texts, ownerOf) {
      const view = helper.directory ?? root;
      for (const name of [ownerOf, ...texts.keys()]) {
        if (isInside(resolve(name), directory)) continue;
        throw new AppError("conflict", `${name} is not in ${directory}; change it there`);
      }
      const { uid = 0, gid = 0 } = (await open(view, resolve(ownerOf))).found ?? {};
      const written: string[] = [];
      const files: ContainerFile[] = [];
      for (const [name, text] of texts) {
        const { path, found } = await open(view, resolve(name));
        if (found?.text === text) continue;
        const mode = name.endsWith("/.env") ? PRIVATE : READABLE;
        // Podman extracts into the mount only if the archive is for the mount itself.
        files.push({ uid, gid, mode, ...found, path: path.slice(view.host.length), text });
        written.push(path);
      }
      if (files.length === 0) return;
      try {
        await containerExtract(engine, id, {
          path: view.mount,
          archive: archiveOf(files, now()),
        });
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

/** The path of a file of the host in the container. */
export const pathIn = ({ host, mount }: View, path: string) => mount + path.slice(host.length);

/** The parts of a path behind a directory that it is in. */
export const namesIn = (directory: string, path: string) =>
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
