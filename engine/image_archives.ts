/** Images as tar archives. @module */

import type { Engine, EngineResponse } from "./client.ts";
import { EngineError, RefusedCallError } from "./errors.ts";
import { DISK_FULL, type PullMessage } from "./image_pull.ts";
import { imagePath } from "./images.ts";
import { jsonLines } from "./json_lines.ts";
import type { Signal } from "./query.ts";

/**
 * Creates an image from the files of a tar archive.
 *
 * @throws {EngineError} 502 with the engine's text.
 */
export async function imageImport(
  engine: Engine,
  { name, archive, signal }: {
    /** With a tag. */
    name: string;
    archive: Uint8Array<ArrayBuffer>;
  } & Signal,
): Promise<void> {
  const response = await engine.request("POST", "/images/create", {
    // Podman ignores the parameter `tag`.
    query: { fromSrc: "-", repo: name },
    headers: { "Content-Type": "application/x-tar" },
    upload: new Blob([archive]).stream(),
    signal,
    long: true,
  });
  for await (const message of jsonLines<PullMessage>(response.body)) {
    const failure = message.errorDetail?.message ?? message.error;
    if (failure !== undefined) throw new EngineError(502, failure);
  }
}

/** Longest wait for the first byte of an archive, e.g. while the engine collects the layers. */
const SAVE_HEAD_TIMEOUT_MS = 600_000;

/**
 * Reads an image as a tar archive in the format of `docker save`. With a name, the archive has that
 * name only.
 *
 * @throws {EngineError} 404 if the image does not exist.
 */
export function imageSave(
  engine: Engine,
  reference: string,
  { signal }: Signal = {},
): Promise<EngineResponse> {
  return engine.request("GET", `/images/${imagePath(reference)}/get`, {
    signal,
    long: true,
    headTimeoutMs: SAVE_HEAD_TIMEOUT_MS,
  });
}

/** Longest unpacking by the engine after the last byte of an archive. */
const LOAD_HEAD_TIMEOUT_MS = 30 * 60_000;

/** One message of a load. */
interface LoadMessage {
  stream?: string;
  error?: string;
  errorDetail?: { message?: string };
}

/**
 * Loads the images of an archive, as `docker load` does.
 *
 * @param archive A tar archive, optionally compressed. Cancelled unless it was sent completely.
 * @returns The loaded names, and ids of images without a name.
 * @throws {EngineError} 507 if the host's disk is full; 400 for anything else that the engine
 * refuses. The text does not contain paths of the host.
 */
export async function imageLoad(
  engine: Engine,
  archive: ReadableStream<Uint8Array>,
  { onSent, signal }: { onSent?: ((bytes: number) => void) | undefined } & Signal = {},
): Promise<string[]> {
  const response = await engine.request("POST", "/images/load", {
    query: { quiet: true },
    headers: { "Content-Type": "application/x-tar" },
    upload: archive,
    onSent,
    signal,
    long: true,
    headTimeoutMs: LOAD_HEAD_TIMEOUT_MS,
  }).catch((error) => {
    throw error instanceof EngineError && !(error instanceof RefusedCallError)
      ? toLoadError(error.message, error)
      : error;
  });
  let text = "";
  for await (const message of jsonLines<LoadMessage>(response.body)) {
    const failure = message.errorDetail?.message ?? message.error;
    if (failure !== undefined) throw toLoadError(failure);
    text += message.stream ?? "";
  }
  // Podman joins the names with commas, which no name contains.
  return [...text.matchAll(/^Loaded image(?: ID|\(s\))?: (.+)$/gm)]
    .flatMap(([, names]) => names!.trim().split(/,\s*/));
}

const NO_IMAGES =
  /docker-import-\d+\/(?:repositories|manifest\.json): no such file|does not match any of the supported image formats/;

function toLoadError(message: string, cause?: unknown): EngineError {
  if (DISK_FULL.test(message)) return new EngineError(507, withoutPaths(message), { cause });
  const text = NO_IMAGES.test(message)
    ? "the archive has no images in the format of docker save"
    : withoutPaths(message);
  return new EngineError(400, text, { cause });
}

/** Leaves the last part of each path, because the others are directories of the host. */
const withoutPaths = (text: string) => text.replace(/(?<![\w./-])\/(?:[^\s/:]+\/)+/g, "");
