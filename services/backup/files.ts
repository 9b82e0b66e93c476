/** The files of a backup, and consistent copies of them. @module */

import { join } from "node:path";
import { DatabaseFileError } from "../../db/database.ts";
import { LICENSE_FILE } from "../access/license/source.ts";
import type { BackupSource } from "./archive.ts";
import { isThere, openRegularFile, removeIfThere } from "../secrets/private_file.ts";

export const STATE_FILE = "state.sqlite";
export const METRICS_FILE = "metrics.sqlite";

/** The files of a backup, without the journals of the databases. */
export const BACKED_UP: readonly string[] = [
  STATE_FILE,
  METRICS_FILE,
  "jwt.secret",
  "secret.key",
  LICENSE_FILE,
];

/** Directories of copies that are downloaded, in `DATA_DIR`. */
export const DOWNLOAD_PREFIX = "download-";

/**
 * Opens a consistent copy of each database, and the other files. The copies are deleted with
 * `directory`, but stay readable while they are open.
 *
 * @param options.copy Copies a database and makes sure that the copy can be restored; throws
 * `DatabaseFileError`.
 * @param options.note Reports that the metrics are left out.
 * @throws {DatabaseFileError} If the state database is damaged.
 */
export async function openBackedUp(
  dataDir: string,
  directory: string,
  { copy, note, signal }: {
    copy: (source: string, target: string, name: string) => Promise<void>;
    note: (text: string) => void;
    signal: AbortSignal;
  },
): Promise<BackupSource[]> {
  const sources: BackupSource[] = [];
  try {
    for (const name of BACKED_UP) {
      signal.throwIfAborted();
      const path = join(dataDir, name);
      if (!isThere(path)) continue;
      if (name !== STATE_FILE && name !== METRICS_FILE) {
        sources.push({ name, file: openRegularFile(path) });
        continue;
      }
      const target = join(directory, name);
      try {
        await copy(path, target, name);
        sources.push({ name, file: openRegularFile(target) });
      } catch (error) {
        if (!(error instanceof DatabaseFileError) || name === STATE_FILE) throw error;
        note(`${name} is left out because it cannot be used: ${error.message}`);
      }
    }
    return sources;
  } catch (error) {
    closeSources(sources);
    throw error;
  }
}

export function closeSources(sources: readonly BackupSource[]): void {
  for (const { file } of sources) file.close();
}

/** Removes the copies of a download that a crash interrupted; only at the start of the service. */
export function removeInterruptedDownloads(dataDir: string): void {
  for (const { name, isDirectory } of [...Deno.readDirSync(dataDir)]) {
    if (isDirectory && name.startsWith(DOWNLOAD_PREFIX)) removeIfThere(join(dataDir, name));
  }
}
