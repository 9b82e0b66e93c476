/** Reads a snapshot as an archive for another host. @module */

import { writeTar } from "../../backup/volumes/tar_writer.ts";
import { createSkipList } from "../../backup/volumes/limits.ts";
import { asTargetError } from "../../backup/targets/repository.ts";
import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { readStream } from "../../stream/read_stream.ts";
import { openSnapshot } from "../list.ts";
import { assertNoneOwn } from "../own_path.ts";
import { encodePath } from "../file_path.ts";
import { bytesOf } from "../../backup/restic/entry_directory.ts";
import { archived } from "./format.ts";

/** Longest time in which the other host takes nothing, in milliseconds: its target may be busy. */
export const STALL_MAX_MS = 30 * 60_000;

/** An archive that is being read. */
export interface SnapshotArchive {
  /** Id of the snapshot. */
  id: string;
  /** Of its files, in bytes; `null` if the snapshot does not say so. */
  size: number | null;
  /** Its content; it must be read or cancelled. */
  body: ReadableStream<Uint8Array>;
}

/**
 * Opens the archive of a snapshot; it has a worker until it ends or is cancelled. Sockets and FIFOs
 * are left out.
 *
 * @throws {AppError} `not_found`; `conflict`; `forbidden` for the service's own data; `bad_gateway`;
 * `too_many_requests`.
 */
export async function openArchive(
  deps: Deps,
  caller: Holder,
  id: string,
  { target }: { target?: string | undefined },
  signal: AbortSignal,
): Promise<SnapshotArchive> {
  const release = deps.limiters.snapshotDownloads.take(caller);
  let opened: Awaited<ReturnType<typeof openSnapshot>> | undefined;
  const end = () => {
    opened?.[Symbol.dispose]();
    release();
  };
  try {
    opened = await openSnapshot(deps, id, target);
    const { repository, snapshot } = opened;
    await assertNoneOwn(deps, snapshot.paths.map((path) => encodePath(bytesOf(path))));
    // A prune is waited out, as where the archive is stored.
    const tree = repository.entries(snapshot.id, { onLocked: () => {} }, signal);
    const pieces = writeTar(archived(snapshot, tree), {
      root: "",
      skipped: createSkipList(),
      xattrs: /^/,
    });
    const read = async () => {
      try {
        return (await pieces.next()).value as Uint8Array | undefined;
      } catch (error) {
        throw asTargetError(error);
      }
    };
    return {
      id: snapshot.id,
      size: snapshot.summary?.bytes ?? null,
      body: readStream(read, end, STALL_MAX_MS),
    };
  } catch (error) {
    end();
    throw error;
  }
}
