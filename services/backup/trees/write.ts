/** Writes what a snapshot has into volumes and directories. @module */

import type { MountSource } from "../../containers/helper_container.ts";
import type { ByteString, Entries } from "../restic/entry.ts";
import type { Repository } from "../restic/repository.ts";
import { engineDiskCheck } from "../volumes/engine_disk.ts";
import type { HelperImage } from "../volumes/helper_image.ts";
import { deleteHostPath, writeHostPath, writeIntoHostPath } from "../volumes/host_path.ts";
import { emptyVolume } from "../volumes/operations.ts";
import { helperShell } from "../volumes/shell.ts";
import { writeVolume } from "../volumes/write.ts";
import { findWritingImages, type VolumeImage } from "../volumes/writing_images.ts";
import type { Deps } from "../../deps.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { lockWait, whileLocked } from "./lock_wait.ts";
import { namedError, type RestoredPart } from "./part.ts";
import { partEntries } from "./part_entries.ts";

interface WrittenPart extends RestoredPart {
  /** Whether the job creates it, so that it is not emptied. */
  isNew?: boolean;
}

/** Parts of a snapshot to write. */
export interface WriteRequest {
  /** Id of the snapshot. */
  snapshot: string;
  parts: readonly WrittenPart[];
  /** Only these files of the parts; `null` for everything. */
  files: readonly ByteString[] | null;
  /** Images that may have the programs that empty volumes before; `null` to keep what is there. */
  emptiedWith: readonly VolumeImage[] | null;
  /** Passes the entries of a volume on, or fails, e.g. for lack of room. */
  pass?(entries: Entries): Entries;
  /** Called before the first change, when nothing but the write itself can fail. */
  begin?(): Promise<unknown>;
}

/** Result of a write. */
export interface WrittenParts {
  bytes: number;
  /** Entries that could not be written so. */
  skippedCount: number;
}

/** @throws {AppError} `conflict` for what cannot be read or written; `bad_gateway` if the target fails. */
export const writeParts = (
  deps: Deps,
  repository: Repository,
  request: WriteRequest,
  job: Pick<JobRun, "signal" | "progress">,
): Promise<WrittenParts> =>
  // A prune between two parts could last until the second one fails.
  whileLocked(repository, job, () => writeLocked(deps, repository, request, job));

async function writeLocked(
  deps: Deps,
  repository: Repository,
  { snapshot, parts, files, emptiedWith, begin, pass = (entries) => entries }: WriteRequest,
  { signal, progress }: Pick<JobRun, "signal" | "progress">,
): Promise<WrittenParts> {
  const emptied = emptiedWith ? parts.filter(({ isNew }) => !isNew) : [];
  const mounts = emptied.map(({ to }) => to.mount);
  const images = await findWritingImages(deps, mounts, emptiedWith ?? [], signal);
  await repository.snapshot(snapshot, signal);
  const hasVolumes = parts.some(({ to }) => to.mount.type === "volume");
  const isOnDisk = hasVolumes ? await engineDiskCheck(deps.engine) : () => false;
  await begin?.();
  const sum = { bytes: 0, skippedCount: 0 };
  for (const part of parts) {
    const { from, to: { mount, path } } = part;
    const image = images[emptied.indexOf(part)];
    if (image) await empty(deps, mount, { image, signal });
    const read = (paths: readonly ByteString[]) =>
      repository.entries(snapshot, { paths, ...lockWait({ progress }) }, signal);
    const all = partEntries({ repository, snapshot, files, signal }, from, read);
    const entries = isOnDisk(mount) ? pass(all) : all;
    let bytes = sum.bytes;
    const options = {
      signal,
      onProgress: (size: number) =>
        progress({ current: bytes += size, total: null, message: path }),
    };
    const writePath = files ? writeIntoHostPath : writeHostPath;
    const writing = mount.type === "volume"
      ? writeVolume(deps, mount, entries, options)
      : writePath(deps, mount.source, entries, options);
    const written = await writing.catch((error) => {
      throw namedError(part.to, error);
    });
    sum.bytes += written.bytes;
    sum.skippedCount += written.skipped.count;
  }
  return sum;
}

const empty = (
  deps: Deps,
  source: MountSource,
  options: { image: HelperImage; signal: AbortSignal },
): Promise<void> =>
  source.type === "volume"
    ? emptyVolume(helperShell(deps, { source, image: options.image }), options.signal)
    : deleteHostPath(deps, source.source, options.signal);
