/** Files in a container that Longshore has created and not started yet. @module */

import { containerExtract } from "../../../engine/container_archive.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { bytesOf } from "../trees/tree.ts";
import type { Entry } from "../restic/entry.ts";
import { createSkipList } from "./limits.ts";
import { writeTar } from "./tar_writer.ts";

/** Attributes that the files of a container may have. */
const XATTRS = /^user\.[^\0=]{1,250}$/;

/**
 * Writes a file; missing directories are created.
 *
 * @param path Absolute, as the container sees it.
 * @throws {TreeError} For an entry that must not be written.
 * @throws {AppError} `conflict` with the engine's reason.
 */
export async function writeContainerFile(
  { engine }: Pick<Deps, "engine">,
  id: string,
  path: string,
  { entry, signal }: { entry: Entry; signal: AbortSignal },
): Promise<void> {
  const [, directory = "", name = ""] = /^\/(?:(.+)\/)?([^/]+)$/.exec(path) ?? [];
  const entries = (async function* () {
    yield { ...entry, path: bytesOf(name) };
  })();
  const tar = writeTar(entries, {
    root: bytesOf(directory),
    skipped: createSkipList(),
    xattrs: XATTRS,
  });
  await extractIntoContainer({ engine }, id, ReadableStream.from(tar), { what: path, signal });
}

/**
 * Extracts an archive at `/`.
 *
 * @param options.what Named by the error.
 * @throws {AppError} `conflict` with the engine's reason.
 */
export async function extractIntoContainer(
  { engine }: Pick<Deps, "engine">,
  id: string,
  archive: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  { what, signal }: { what: string; signal: AbortSignal },
): Promise<void> {
  try {
    await containerExtract(engine, id, { path: "/", archive, keepsOwners: true, signal });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const message = `${what} could not be written: ${error.message}`;
    throw new AppError("conflict", message, { cause: error });
  }
}
