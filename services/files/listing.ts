/** Lists files of volumes, containers and stacks. @module */

import type { Holder } from "../access/shares.ts";
import type { ByteString } from "../backup/restic/entry.ts";
import type { ListedFile } from "../backup/volumes/listing.ts";
import { type FileView, viewFile } from "../snapshots/file_view.ts";
import { type FileDeps, type FindPlace, parsePath, within } from "./request.ts";

/** Longest listing with the start of a container, in milliseconds. */
const LIST_MS = 60_000;

export interface FileList {
  files: FileView[];
  /** Whether there are more. */
  truncated: boolean;
  runningContainers: string[];
}

/** @throws {AppError} `not_found`; `invalid`; `conflict`; `forbidden`. */
export async function listFiles(
  deps: FileDeps,
  caller: Holder,
  find: FindPlace,
  path: string,
): Promise<FileList> {
  return await deps.limiters.fileRequests(caller, async () => {
    const signal = AbortSignal.timeout(LIST_MS);
    const directory = parsePath(path);
    const place = await find(signal);
    place.assertAllowed(directory, "read");
    const { files, isComplete } = await within(deps, place, () => place.list(directory, signal));
    return {
      files: files.map((file) => viewOf(directory, file)),
      truncated: !isComplete,
      runningContainers: place.runningContainers,
    };
  });
}

/** @param directory Its path. */
export const viewOf = (directory: ByteString, file: ListedFile): FileView =>
  viewFile({ ...file, path: directory === "" ? file.name : `${directory}/${file.name}` });
