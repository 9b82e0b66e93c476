/**
 * A backup of the running service, with the content of `longshore backup`: as an archive, and as a
 * download.
 *
 * @module
 */

import { join } from "node:path";
import { copyDatabaseAside } from "../../db/backup.ts";
import { DatabaseFileError } from "../../db/database.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { type Archive, type BackupSource, createArchive } from "./archive.ts";
import { closeSources, DOWNLOAD_PREFIX, openBackedUp, STATE_FILE } from "./files.ts";
import { isThere, removeIfThere } from "../secrets/private_file.ts";
import { TarError } from "./tar.ts";

/** A client that reads nothing for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 60_000;

interface BackupDownload {
  createdAt: Date;
  /** In bytes. */
  size: number;
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Opens a backup.
 *
 * @throws {AppError} `conflict` while another backup is downloaded; `unavailable` if the state
 * database cannot be copied.
 */
export async function openBackupDownload(
  deps: Pick<Deps, "config" | "limiters" | "log" | "now">,
): Promise<BackupDownload> {
  const opened = Promise.withResolvers<BackupDownload>();
  deps.limiters.backupDownloads(async () => {
    const ended = Promise.withResolvers<void>();
    opened.resolve(await openDownload(deps, ended.resolve));
    await ended.promise;
  }).catch(opened.reject);
  return await opened.promise;
}

/** @param onEnd Called once the stream has ended. */
async function openDownload(
  deps: Pick<Deps, "config" | "log" | "now">,
  onEnd: () => void,
): Promise<BackupDownload> {
  const stop = new AbortController();
  const archive = await openBackupArchive(deps, stop.signal).catch((error) => {
    onEnd();
    throw error;
  });
  const end = () => {
    stop.abort();
    archive[Symbol.dispose]();
    onEnd();
  };
  return { createdAt: archive.createdAt, size: archive.size, body: streamOf(archive, end) };
}

/**
 * Opens the archive of a backup. The databases are copied in a thread of their own, and the copies have
 * no names in `DATA_DIR` any more when this returns.
 *
 * @throws {AppError} `unavailable` if the state database cannot be copied.
 */
export async function openBackupArchive(
  { config: { dataDir }, log, now }: Pick<Deps, "config" | "log" | "now">,
  signal: AbortSignal,
): Promise<Archive & Disposable & { createdAt: Date }> {
  if (!isThere(join(dataDir, STATE_FILE))) {
    throw new AppError("unavailable", `DATA_DIR has no ${STATE_FILE}`);
  }
  let sources: BackupSource[] = [];
  const close = () => closeSources(sources.splice(0));
  try {
    sources = await openCopies(dataDir, {
      note: (reason) => log.warn("metrics left out of a backup", { reason }),
      signal,
    });
    const createdAt = now();
    const archive = await createArchive(sources, { createdAt, signal });
    return { ...archive, createdAt, [Symbol.dispose]: close };
  } catch (error) {
    close();
    if (!(error instanceof DatabaseFileError || error instanceof TarError)) throw error;
    throw new AppError("unavailable", error.message, { cause: error });
  }
}

async function openCopies(
  dataDir: string,
  options: { note: (text: string) => void; signal: AbortSignal },
): Promise<BackupSource[]> {
  const directory = join(dataDir, DOWNLOAD_PREFIX + crypto.randomUUID());
  try {
    Deno.mkdirSync(directory, { mode: 0o700 });
    return await openBackedUp(dataDir, directory, { ...options, copy: copyDatabaseAside });
  } finally {
    removeIfThere(directory);
  }
}

/** @param end Called once the stream has ended. */
function streamOf({ chunks }: Pick<Archive, "chunks">, end: () => void): BackupDownload["body"] {
  const content = chunks();
  let stall: ReturnType<typeof setTimeout> | undefined;
  const finish = () => {
    clearTimeout(stall);
    end();
  };
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stall);
      try {
        const { done, value } = await content.next();
        if (done) {
          finish();
          controller.close();
          return;
        }
        // The next read overwrites the chunk.
        controller.enqueue(value.slice());
        stall = setTimeout(() => {
          finish();
          controller.error(new Error("The client does not read"));
        }, STALL_MAX_MS);
      } catch (error) {
        finish();
        throw error;
      }
    },
    cancel: finish,
  }, { highWaterMark: 0 });
}
