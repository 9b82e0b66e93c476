/**
 * Files of a volume or a directory of the host: read from `VOLUMES_PATH` where that is safe, else with
 * the programs of a helper container, else from the engine's archives, which can only be read.
 *
 * @module
 */

import type { ByteString } from "../backup/restic/entry.ts";
import { openContent, type OpenFile, shortened, startIn } from "../backup/volumes/content.ts";
import { listDirectly, openDirectly } from "../backup/volumes/direct_files.ts";
import { readArchive } from "../backup/volumes/engine_reading.ts";
import { findHelperImage } from "../backup/volumes/helper_image.ts";
import type { HelperMounts } from "../backup/volumes/helper_program.ts";
import { createSkipList, showPath } from "../backup/volumes/limits.ts";
import { listDirectory, type Listing, listTree } from "../backup/volumes/listing.ts";
import type { VolumeDeps } from "../backup/volumes/mounted.ts";
import { helperShell, type Shell } from "../backup/volumes/shell.ts";
import { findWritingImages, type VolumeImage } from "../backup/volumes/writing_images.ts";
import { AppError } from "../errors.ts";

/** A volume or directory, and the ways to its files. */
export interface MountedFiles extends HelperMounts {
  /** Directory of the host that this service can read, and no running container writes to. */
  directory: string | undefined;
  /** Images that may have the programs of a helper container that reads. */
  images: readonly string[];
  /** Those that may change a volume. */
  writingImages: readonly VolumeImage[];
}

/** The shell that changes files. */
export async function mountedShell(
  deps: VolumeDeps,
  { source, around, writingImages }: MountedFiles,
  signal: AbortSignal,
): Promise<Shell> {
  const [image] = await findWritingImages(deps, [source], writingImages, signal);
  return helperShell(deps, { source, around, image: image! });
}

export async function listMounted(
  deps: VolumeDeps,
  mounted: MountedFiles,
  path: ByteString,
  signal: AbortSignal,
): Promise<Listing> {
  const { directory } = mounted;
  const direct = directory === undefined ? undefined : await listDirectly(directory, path);
  if (direct) return direct;
  const shell = await readingShell(deps, mounted, signal);
  if (shell) return await listDirectory(shell, path, signal);
  const { at, read } = archiveOf(deps, mounted, path);
  return await listTree((limit) => read(AbortSignal.any([signal, limit])), at);
}

export async function openMounted(
  deps: VolumeDeps,
  mounted: MountedFiles,
  path: ByteString,
  from: number,
  signal: AbortSignal,
): Promise<OpenFile> {
  const { directory } = mounted;
  const direct = directory === undefined ? undefined : await openDirectly(directory, path, from);
  if (direct) return direct;
  const shell = await readingShell(deps, mounted, signal);
  if (shell) return await openContent(shell, path, { from, signal });
  return await openInArchive(archiveOf(deps, mounted, path), path, from, signal);
}

/** @returns `undefined` if archives have to do: those of Docker have everything. */
async function readingShell(
  deps: VolumeDeps,
  { source, around, images }: MountedFiles,
  signal: AbortSignal,
): Promise<Shell | undefined> {
  try {
    const image = await findHelperImage(deps, images, signal);
    return helperShell(deps, { source, around, image });
  } catch (error) {
    const isWithoutImage = error instanceof AppError && error.code === "conflict";
    if (!isWithoutImage || deps.engine.kind === "podman") throw error;
    return undefined;
  }
}

/** @returns The archive of a path, in the directory around a directory that containers may replace. */
function archiveOf(deps: VolumeDeps, { source, around }: MountedFiles, path: ByteString) {
  const at = around ? [around.path, path].filter((part) => part !== "").join("/") : path;
  const read = (signal: AbortSignal) =>
    readArchive(deps, {
      ...{ source: around?.source ?? source, path: at, signal },
      images: [],
      skipped: createSkipList(),
    });
  return { at, read };
}

async function openInArchive(
  { read }: ReturnType<typeof archiveOf>,
  path: ByteString,
  from: number,
  signal: AbortSignal,
): Promise<OpenFile> {
  const ending = new AbortController();
  const entries = read(AbortSignal.any([signal, ending.signal]));
  const close = () => {
    ending.abort();
    void entries.return(undefined).catch(() => {});
  };
  const { value: entry } = await entries.next();
  if (entry?.type !== "file") {
    close();
    throw new AppError("conflict", `Path ${showPath(path)} is not a regular file`);
  }
  const start = startIn(entry.size, from);
  const { mode, uid, gid, size, mtime, content = [] } = entry;
  return {
    info: {
      name: path.slice(path.lastIndexOf("/") + 1),
      type: "file",
      mode,
      uid,
      gid,
      size,
      mtime,
    },
    start,
    content: skip(content as AsyncIterable<Uint8Array>, { start, size, path, close }),
    close,
  };
}

async function* skip(
  content: AsyncIterable<Uint8Array>,
  { start, size, path, close }: {
    start: number;
    size: number;
    path: ByteString;
    close: () => void;
  },
): AsyncGenerator<Uint8Array, void> {
  let at = 0;
  try {
    for await (const piece of content) {
      const rest = piece.subarray(Math.max(0, start - at));
      at += piece.length;
      if (rest.length > 0) yield rest;
    }
  } finally {
    close();
  }
  if (at < size) throw shortened(path);
}
