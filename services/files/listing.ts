/** Lists files of volumes, containers and stacks. @module */

import type { Holder } from "../access/shares.ts";
import type { ByteString } from "../backup/restic/entry.ts";
import type { ListedFile } from "../backup/volumes/listing.ts";
import { encodePath } from "../snapshots/file_path.ts";
import { type FileDeps, type FindPlace, parsePath, within } from "./request.ts";

/** Longest listing with the start of a container, in milliseconds. */
const LIST_MS = 60_000;

/** A file as requests show it. */
export interface FileView {
  /** Last part of the path. */
  name: string;
  /** As further requests give it. */
  path: string;
  type: ListedFile["type"];
  /** In bytes. */
  size: number;
  /** Octal. */
  mode: string;
  uid: number;
  gid: number;
  /** ISO 8601, UTC. */
  modifiedAt: string;
}

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
export function viewOf(directory: ByteString, file: ListedFile): FileView {
  const { name, type, size, mode, uid, gid, mtime } = file;
  return {
    name: encodePath(name),
    path: `/${encodePath(directory === "" ? name : `${directory}/${name}`)}`,
    ...{ type, size, uid, gid },
    mode: `0${mode.toString(8).padStart(3, "0")}`,
    modifiedAt: timeOf(mtime),
  };
}

/** Years beyond four digits are shown as 1970. */
function timeOf(mtime: bigint): string {
  const ms = Number(mtime / 1_000_000n);
  return new Date(ms >= YEAR_0 && ms < YEAR_10000 ? ms : 0).toISOString();
}

const YEAR_0 = Date.parse("0000-01-01T00:00:00Z");
const YEAR_10000 = Date.UTC(10_000, 0, 1);
