/** Writes what a snapshot has into volumes and directories. @module */

import type { ByteString, Entries, Entry } from "../../backup/restic/entry.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import { findHelperImage } from "../../backup/volumes/helper_image.ts";
import { emptyVolume } from "../../backup/volumes/operations.ts";
import { writeVolume } from "../../backup/volumes/write.ts";
import type { Deps } from "../../deps.ts";
import { translated } from "../repositories.ts";
import type { RestoreJob, RestoreResult } from "./job.ts";

/** A snapshot that is written. */
export interface Source {
  repository: Repository;
  /** Its id. */
  snapshot: string;
  /** Whether what is there is deleted before. */
  empties: boolean;
  signal: AbortSignal;
}

/** @throws {AppError} `conflict` for what cannot be read or written; `bad_gateway` if the target fails. */
export async function writeParts(
  deps: Deps,
  { input: { files, parts, images }, progress }: Pick<RestoreJob, "input" | "progress">,
  { repository, snapshot, empties, signal }: Source,
): Promise<Pick<RestoreResult, "bytes" | "skippedCount">> {
  const image = empties ? await findHelperImage(deps, images, signal) : undefined;
  const sum = { bytes: 0, skippedCount: 0 };
  for (const { from, to: { mount, path } } of parts) {
    if (image) await emptyVolume(deps, { source: mount, image, signal });
    const paths = files?.filter((file) => file.startsWith(`${from}/`)) ?? [from];
    const entries = below(from, repository.entries(snapshot, { paths }, signal));
    let bytes = sum.bytes;
    const written = await translated(() =>
      writeVolume(deps, mount, entries, {
        signal,
        onProgress: (size) => progress({ current: bytes += size, total: null, message: path }),
      })
    );
    sum.bytes += written.bytes;
    sum.skippedCount += written.skipped.count;
  }
  return sum;
}

/** Entries with paths relative to a directory of the snapshot. */
async function* below(directory: ByteString, entries: Entries): Entries & AsyncGenerator<Entry> {
  const relative = (path: ByteString) => path.slice(directory.length + 1);
  for await (const entry of entries) {
    yield {
      ...entry,
      path: relative(entry.path),
      ...(entry.hardLinkTo !== undefined && { hardLinkTo: relative(entry.hardLinkTo) }),
    };
  }
}
