/**
 * Writes a tree into a volume or a directory of the host, through a container of Longshore's own that
 * is never started.
 *
 * @module
 */

import { containerExtract } from "../../../engine/container_archive.ts";
import { EngineError } from "../../../engine/errors.ts";
import { findVolume, volumeCreate } from "../../../engine/volumes.ts";
import { type MountSource, removeHelper } from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { ByteString, Entries } from "../restic/entry.ts";
import { createSkipList, type SkipList } from "./limits.ts";
import { createVolumeHelper, type VolumeDeps } from "./mounted.ts";
import { writeTar } from "./tar_writer.ts";

/** Driver, options and labels of a new volume. */
export interface NewVolume {
  name: string;
  /** Default: `local`. */
  driver?: string | undefined;
  options?: Record<string, string> | undefined;
  labels?: Record<string, string> | undefined;
}

/**
 * Creates an empty volume.
 *
 * @throws {AppError} `conflict` for a name in use, which the engine would accept.
 * @throws {EngineError} For what the driver refuses.
 */
export async function createVolume(
  { engine }: Pick<Deps, "engine">,
  { name, driver = "local", options = {}, labels = {} }: NewVolume,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  if (await findVolume(engine, name, { signal })) {
    throw new AppError("conflict", `Volume ${name} already exists`);
  }
  await volumeCreate(engine, {
    body: { Name: name, Driver: driver, DriverOpts: options, Labels: labels },
    signal,
  });
}

/** Extended attributes that files of applications have. Others belong to the system of the host. */
const XATTRS =
  /^(?:user\.[^\0=]{1,250}|security\.capability|system\.posix_acl_(?:access|default))$/;

/** Attributes that Podman restores. */
const PODMAN_XATTRS = /^(?:user\.[^\0=]{1,250}|security\.capability)$/;

/** A finished write. */
export interface Written {
  /** Content, in bytes. */
  bytes: number;
  skipped: SkipList;
}

/**
 * Writes entries into an existing volume, which should be empty: what is there and has another name
 * stays. A directory comes before its content, and the names of a directory are in byte order, as
 * restic's trees have them. The first entry may be the root (path ""), whose owner and mode the volume then gets. Links,
 * set-id bits, owners and times are restored as they are, and links are never followed.
 *
 * After a failure the volume has a part of the tree.
 *
 * @param options.below An existing directory in the volume that the paths are relative to. No name in its
 * path may be a link.
 * @param options.onProgress Called with the size of each piece of content that the engine took.
 * @throws {TreeError} For an entry that must not be written, and content of another size than said.
 * @throws {AppError} `not_found` for a volume that does not exist; `conflict` for a directory that the
 * host does not have, and with the engine's reason, e.g. a full disk.
 */
export async function writeVolume(
  deps: VolumeDeps,
  source: MountSource,
  entries: Entries,
  { below = "", signal, onProgress }: {
    below?: ByteString;
    signal: AbortSignal;
    onProgress?: ((bytes: number) => void) | undefined;
  },
): Promise<Written> {
  const { engine } = deps;
  const skipped = createSkipList();
  let bytes = 0;
  const { id, root } = await createVolumeHelper(deps, source, { isReadOnly: false, signal });
  try {
    // Docker refuses links such as ../../x below a mount, Podman extracts into the mount only there.
    const isAtMount = engine.kind === "podman";
    const archive = ReadableStream.from(writeTar(entries, {
      root: [isAtMount ? "" : root, below].filter((part) => part !== "").join("/"),
      skipped,
      xattrs: isAtMount ? PODMAN_XATTRS : XATTRS,
      onProgress(size) {
        bytes += size;
        onProgress?.(size);
      },
    }));
    await containerExtract(engine, id, {
      path: isAtMount ? `/${root}` : "/",
      archive,
      keepsOwners: true,
      signal,
    });
    return { bytes, skipped };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new AppError("conflict", `${source.source} could not be written: ${error.message}`, {
      cause: error,
    });
  } finally {
    await removeHelper(deps, id);
  }
}
