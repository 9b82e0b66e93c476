/**
 * Snapshot files in memory: each list of snapshots reads all of them. Their names are the hashes of
 * their bytes, so that a file which a target lists has the bytes that are here.
 *
 * @module
 */

import type { Storage } from "../restic/storage.ts";
import { sha256Of } from "./sha256.ts";

/** Limits of all files, and of one, in bytes. Most have less than 1 KB. */
const BYTES_MAX = 8 * 1024 * 1024;
const FILE_BYTES_MAX = 64 * 1024;

/** Memory that a file takes besides its bytes. */
const OVERHEAD_BYTES = 300;

export type SnapshotFiles = ReturnType<typeof createSnapshotFiles>;

export function createSnapshotFiles() {
  // The first one was used longest ago.
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  const sizeOf = (file: Uint8Array) => file.length + OVERHEAD_BYTES;

  const take = (name: string): Uint8Array | undefined => {
    const file = files.get(name);
    if (file === undefined) return undefined;
    files.delete(name);
    bytes -= sizeOf(file);
    return file;
  };
  const keep = (name: string, file: Uint8Array) => {
    take(name);
    files.set(name, file);
    bytes += sizeOf(file);
    for (const oldest of files.keys()) {
      if (bytes <= BYTES_MAX) return;
      take(oldest);
    }
  };

  return {
    /** A storage whose snapshot files are read once. What is removed there is not listed any more. */
    cached(storage: Storage): Storage {
      return {
        ...storage,
        async read(kind, name, signal, range) {
          if (kind !== "snapshots" || range) return await storage.read(kind, name, signal, range);
          signal.throwIfAborted();
          const known = take(name);
          const file = known ?? await storage.read(kind, name, signal);
          const isWhole = known !== undefined ||
            file.length <= FILE_BYTES_MAX && (await sha256Of(file)).toHex() === name;
          if (!isWhole) return file;
          keep(name, file);
          // The caller may move the bytes.
          return file.slice();
        },
      };
    },
  };
}
