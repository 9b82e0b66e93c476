/**
 * Files of a stack's directory on the host, read and written through the engine: an empty container
 * has the directory mounted at the same path and is never started. Longshore needs no permission on
 * the files, and it does not matter whether it runs in a container itself.
 *
 * A container may write to the directory of its own stack, at any time. Symbolic links that lead out
 * of it end in the empty container: the directory of STACK_ROOTS is mounted, too, but at a path that
 * no link can know.
 *
 * @module
 */

import { join, resolve } from "node:path";
import {
  containerArchive,
  containerExtract,
  containerStat,
} from "../../engine/container_archive.ts";
import { containerCreate, containerRemove } from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { imageImport, imageInspect } from "../../engine/images.ts";
import { readFirstFile, TAR_BLOCK_BYTES, TarError, type TarOwner } from "../backup/tar.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
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

/** The files of a stack's directory, and those around it. Paths are absolute. */
export interface HostFiles {
  /**
   * Returns the text of a file, `undefined` if it does not exist or is not in STACK_ROOTS.
   *
   * @throws {AppError} `conflict` for anything but a text within the limit, and for a symbolic link
   * out of the stack's directory, or out of that of another stack.
   */
  read(path: string): Promise<string | undefined>;
  /**
   * Writes files of the stack's directory that have another text, with the directories that are
   * missing. Existing ones keep their owner and mode.
   *
   * @param ownerOf An existing file whose owner new ones get; by default root.
   * @throws {AppError} As `read()`, and `conflict` with the engine's reason.
   */
  write(texts: ReadonlyMap<string, string>, ownerOf: string): Promise<void>;
}

/** Dependencies of requests for files. */
export type FileDeps = Pick<
  Deps,
  "composeLoader" | "config" | "engine" | "limiters" | "log" | "now" | "server" | "startedAt"
>;

/** A directory of the host, as the helper container has it. */
interface View {
  host: string;
  /** Path in the container. */
  mount: string;
}

/** A helper container. */
interface Helper {
  id: string;
  root: View;
  /** The stack's directory; if it does not exist yet, it is created in the root. */
  directory: View | undefined;
}

/**
 * Opens the directory of a stack. Requests take turns, so that what `work` reads is not changed by
 * another one.
 *
 * @throws {AppError} `conflict` for a directory outside of STACK_ROOTS, or behind a symbolic link, and
 * for a root that does not exist on the host.
 */
export async function withHostFiles<Result>(
  deps: FileDeps,
  directory: string,
  access: "read" | "write",
  work: (files: HostFiles) => Promise<Result>,
): Promise<Result> {
  const root = rootOf(deps, directory);
  return await deps.limiters.projectFiles(async () => {
    const helper = await createHelper(deps, root, directory, access);
    try {
      await assertRealDirectory(deps, helper, directory);
      return await work(hostFiles(deps, helper, directory));
    } finally {
      await removeHelper(deps, helper.id);
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
  directory: string,
  access: "read" | "write",
): Promise<Helper> {
  const { engine } = deps;
  if (!await ifThere(imageInspect(engine, HELPER_IMAGE))) {
    await imageImport(engine, { name: HELPER_IMAGE, archive: new Uint8Array(2 * TAR_BLOCK_BYTES) });
  }
  const rootView = { host: root, mount: `/${crypto.randomUUID()}` };
  const directoryView = { host: directory, mount: directory };
  const isReadOnly = access === "read";
  const id = await createContainer(deps, [
    { ...rootView, isReadOnly: true },
    { ...directoryView, isReadOnly },
  ]);
  if (id !== undefined) return { id, root: rootView, directory: directoryView };
  const other = await createContainer(deps, [{ ...rootView, isReadOnly }]);
  if (other !== undefined) return { id: other, root: rootView, directory: undefined };
  throw new AppError("conflict", `Directory ${root} does not exist on the host; create it`);
}

/** @returns Its id; `undefined` if the host does not have one of the directories. */
async function createContainer(
  deps: FileDeps,
  views: readonly (View & { isReadOnly: boolean })[],
): Promise<string | undefined> {
  try {
    const { id } = await containerCreate(deps.engine, {
      body: {
        Image: HELPER_IMAGE,
        // The engine requires a command, although the container is never started.
        Cmd: ["/none"],
        Labels: { [HELPER_LABEL]: helperMark(deps) },
        HostConfig: {
          NetworkMode: "none",
          // Unlike with Binds, a missing directory is an error.
          Mounts: views.map(({ host, mount, isReadOnly }) => ({
            Type: "bind",
            Source: host,
            Target: mount,
            ReadOnly: isReadOnly,
          })),
        },
      },
    });
    return id;
  } catch (error) {
    const isMissing = error instanceof EngineError &&
      /bind source path|no such file/i.test(error.message);
    if (isMissing) return undefined;
    throw error;
  }
}

/**
 * The engine follows links in the path of a mount.
 *
 * @throws {AppError} `conflict`
 */
async function assertRealDirectory(
  { engine }: FileDeps,
  { id, root }: Helper,
  directory: string,
): Promise<void> {
  let at = root.host;
  for (const name of namesIn(root.host, directory)) {
    at += `/${name}`;
    const found = await containerStat(engine, id, { path: pathIn(root, at) });
    if (!found) return;
    if (found.linkTarget !== "") {
      throw new AppError(
        "conflict",
        `${at} is a symbolic link to ${found.linkTarget}; use the real path of the directory`,
      );
    }
    if (!found.isDirectory) throw new AppError("conflict", `${at} is not a directory`);
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

function hostFiles({ engine, now }: FileDeps, helper: Helper, directory: string): HostFiles {
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
const pathIn = ({ host, mount }: View, path: string) => mount + path.slice(host.length);

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
