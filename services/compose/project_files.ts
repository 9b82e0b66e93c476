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

import { containerStat } from "../../engine/container_archive.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import {
  createHelper,
  type HelperMount,
  type MountSource,
  removeHelper,
} from "../containers/helper_container.ts";
import { isInside } from "../text/paths.ts";
import {
  type FileDeps,
  type Helper,
  type HostFiles,
  namesIn,
  pathIn,
  type View,
  viewedFiles,
} from "./viewed_files.ts";

export type { FileDeps, HostFiles };

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
    const helper = await openDirectory(deps, root, directory, access);
    try {
      await assertRealDirectory(deps, helper, directory);
      return await work(viewedFiles(deps, helper, directory));
    } finally {
      await removeHelper(deps, helper.id);
    }
  });
}

/** No link can know the path in the container. */
const viewAtRandom = (host: string): View => ({ host, mount: `/${crypto.randomUUID()}` });

/**
 * Opens a directory or volume to read the files of several stacks in it. It is the only mount of the
 * helper container.
 *
 * @param at Path of the mount, for the files in it.
 * @param work Gets a function that returns the files of one stack.
 * @throws {AppError} `conflict` for a directory that does not exist.
 */
export async function withMountedFiles<Result>(
  deps: FileDeps,
  mounted: MountSource & { at: string },
  work: (filesOf: (directory: string) => Promise<HostFiles>) => Promise<Result>,
): Promise<Result> {
  const { type, source, at } = mounted;
  return await deps.limiters.projectFiles(async () => {
    const root = viewAtRandom(at);
    const mount: HelperMount = { type, source, target: root.mount, isReadOnly: true };
    const id = await createHelper(deps, [mount]);
    if (id === undefined) {
      throw new AppError("conflict", `Directory ${source} does not exist on the host`);
    }
    const helper = { id, root, directory: undefined };
    try {
      return await work(async (directory) => {
        await assertRealDirectory(deps, helper, directory);
        return viewedFiles(deps, helper, directory);
      });
    } finally {
      await removeHelper(deps, id);
    }
  });
}

/** @throws {AppError} `conflict` */
export function rootOf(
  { config: { stackRoots } }: Pick<Deps, "config">,
  directory: string,
): string {
  const root = stackRoots.find((each) => directory !== each && isInside(directory, each));
  if (root !== undefined) return root;
  throw new AppError(
    "conflict",
    `${directory} is not below a directory of STACK_ROOTS (${stackRoots.join(", ") || "empty"})`,
  );
}

async function openDirectory(
  deps: FileDeps,
  root: string,
  directory: string,
  access: "read" | "write",
): Promise<Helper> {
  const rootView = viewAtRandom(root);
  const directoryView = { host: directory, mount: directory };
  const mountOf = ({ host, mount }: View, isReadOnly: boolean): HelperMount => ({
    type: "bind",
    source: host,
    target: mount,
    isReadOnly,
  });
  const isReadOnly = access === "read";
  const id = await createHelper(deps, [
    mountOf(rootView, true),
    mountOf(directoryView, isReadOnly),
  ]);
  if (id !== undefined) return { id, root: rootView, directory: directoryView };
  const other = await createHelper(deps, [mountOf(rootView, isReadOnly)]);
  if (other !== undefined) return { id: other, root: rootView, directory: undefined };
  throw new AppError("conflict", `Directory ${root} does not exist on the host; create it`);
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
