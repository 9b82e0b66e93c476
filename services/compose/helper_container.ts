/** Containers that are never started, through which files of the host and of volumes are read and written. @module */

import { containerCreate, containerRemove } from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { imageImport, imageInspect } from "../../engine/images.ts";
import { TAR_BLOCK_BYTES } from "../backup/tar.ts";
import { HELPER_IMAGE, HELPER_LABEL, helperMark } from "../containers/helpers.ts";
import type { Deps } from "../deps.ts";

/** Dependencies of requests for files. */
export type FileDeps = Pick<
  Deps,
  "composeLoader" | "config" | "engine" | "limiters" | "log" | "now" | "server" | "startedAt"
>;

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

/** @returns Its id; `undefined` if the host does not have one of the directories. */
export async function createHelper(
  deps: FileDeps,
  mounts: readonly HelperMount[],
): Promise<string | undefined> {
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
          Mounts: mounts.map(({ type, source, target, isReadOnly }) => ({
            Type: type,
            Source: source,
            Target: target,
            ReadOnly: isReadOnly,
            ...(type === "volume" && { VolumeOptions: { NoCopy: true } }),
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

/** Removes a helper container; its volumes stay. */
export async function removeHelper({ engine, log }: FileDeps, id: string): Promise<void> {
  try {
    await ifThere(containerRemove(engine, id, { force: true, volumes: false }));
  } catch (error) {
    // The next listing of containers removes it.
    if (!(error instanceof EngineError || error instanceof EngineUnreachableError)) throw error;
    log.warn("helper container not removed", { id, error: error.message });
  }
}
