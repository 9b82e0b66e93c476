/** Containers that are never started, through which files of the host and of volumes are read and written. @module */

import {
  containerCreate,
  type ContainerCreateBody,
  containerRemove,
} from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { imageImport } from "../../engine/image_archives.ts";
import { imageInspect } from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { EMPTY_IMAGE, HELPER_LABEL, helperMark, helperName, releaseHelper } from "./helpers.ts";

export type HelperDeps = Pick<Deps, "engine" | "log" | "server" | "startedAt">;

/** Tar archive without files: two blocks of zeros. */
const EMPTY_ARCHIVE_BYTES = 1024;

/** A directory of the host, or a volume. */
export interface MountSource {
  type: "bind" | "volume";
  /** Absolute path on the host, or the name of an existing volume. */
  source: string;
}

/** A mount of a helper container. */
export interface HelperMount extends MountSource {
  target: string;
  isReadOnly: boolean;
}

/** Names by ids of those that exist. */
const names = new Map<string, string>();

interface HelperOptions {
  signal?: AbortSignal | undefined;
}

/** @returns Its id; `undefined` if the host does not have one of the directories. */
export async function createHelper(
  deps: HelperDeps,
  mounts: readonly HelperMount[],
  options: HelperOptions = {},
): Promise<string | undefined> {
  const { engine } = deps;
  if (!await ifThere(imageInspect(engine, EMPTY_IMAGE))) {
    await imageImport(engine, {
      name: EMPTY_IMAGE,
      archive: new Uint8Array(EMPTY_ARCHIVE_BYTES),
    });
  }
  return await createHelperOf(deps, { Image: EMPTY_IMAGE }, mounts, options);
}

/**
 * Creates a helper container of any image, without a network. It is not in the inventory, and is
 * removed at the next list of containers if this process could not.
 *
 * @returns Its id; `undefined` if the host does not have one of the directories.
 */
export async function createHelperOf(
  deps: HelperDeps,
  { HostConfig, ...config }: ContainerCreateBody,
  mounts: readonly HelperMount[],
  { signal }: HelperOptions = {},
): Promise<string | undefined> {
  const { engine } = deps;
  const name = helperName();
  try {
    const { id } = await containerCreate(engine, {
      name,
      body: {
        // The engine requires a command, although the container may never be started.
        Cmd: ["/none"],
        ...config,
        Labels: { [HELPER_LABEL]: helperMark(deps) },
        HostConfig: {
          ...HostConfig,
          NetworkMode: "none",
          // Unlike with Binds, a missing directory is an error.
          Mounts: [...HostConfig?.Mounts ?? [], ...mounts.map(toMount)],
        },
      },
      signal,
    });
    names.set(id, name);
    return id;
  } catch (error) {
    // The engine may have created it, although its answer was lost.
    if (!(error instanceof EngineError)) await removeHelper(deps, name);
    releaseHelper(name);
    const isMissing = error instanceof EngineError &&
      /bind source path|no such file/i.test(error.message);
    if (isMissing) return undefined;
    throw error;
  }
}

const toMount = ({ type, source, target, isReadOnly }: HelperMount) => ({
  Type: type,
  Source: source,
  Target: target,
  ReadOnly: isReadOnly,
  ...(type === "volume" && { VolumeOptions: { NoCopy: true } }),
});

/**
 * Removes a helper container; its volumes with a name stay.
 *
 * @param id Also its name.
 */
export async function removeHelper(
  { engine, log }: Pick<HelperDeps, "engine" | "log">,
  id: string,
): Promise<void> {
  try {
    await ifThere(containerRemove(engine, id, { force: true, volumes: false }));
  } catch (error) {
    // The next listing of containers removes it.
    if (!(error instanceof EngineError || error instanceof EngineUnreachableError)) throw error;
    log.warn("helper container not removed", { id, error: error.message });
  } finally {
    releaseHelper(names.get(id));
    names.delete(id);
  }
}
