/** Pulls of images. @module */

import type { Engine } from "./client.ts";
import { EngineError, RefusedCallError } from "./errors.ts";
import { parseReference } from "./image_reference.ts";
import { jsonLines } from "./json_lines.ts";
import type { Signal } from "./query.ts";
import { type RegistryAuth, registryAuthHeader } from "./registry_auth.ts";

/** One message of a pull. */
export interface PullProgress {
  /** E.g. `Downloading`. */
  status?: string;
  /** Id of the layer. */
  id?: string;
  progressDetail?: { current?: number; total?: number };
  [field: string]: unknown;
}

/**
 * Pulls an image and waits until the pull is complete. A reference without tag and digest means
 * `:latest`.
 *
 * @throws {EngineError} 404 if the registry does not have the image or hides it; 400 for an invalid
 * reference; 507 if the host's disk is full; 502 for any other failure, with the engine's text.
 */
export async function imagePull(
  engine: Engine,
  reference: string,
  { platform, auth, onProgress, signal }: {
    /** E.g. `linux/arm64`; default: the platform of the host. */
    platform?: string | undefined;
    auth?: RegistryAuth | undefined;
    onProgress?: ((progress: PullProgress) => void) | undefined;
  } & Signal = {},
): Promise<void> {
  const { name, tag, digest } = parseReference(reference);
  // Without a tag the engine would pull every tag of the repository.
  const response = await engine.request("POST", "/images/create", {
    query: { fromImage: name, tag: digest ?? tag ?? "latest", platform },
    headers: registryAuthHeader(auth),
    signal,
    long: true,
    headTimeoutMs: PULL_HEAD_TIMEOUT_MS,
  }).catch((error) => {
    // Other statuses are about the registry and differ by engine.
    throw error instanceof EngineError && !(error instanceof RefusedCallError) &&
        error.status !== 400 && error.status !== 404
      ? toPullError(error.message, error)
      : error;
  });
  for await (const message of jsonLines<PullMessage>(response.body)) {
    const failure = message.errorDetail?.message ?? message.error;
    if (failure !== undefined) throw toPullError(failure);
    onProgress?.(message);
  }
}

/** The engine contacts the registry before it responds. */
const PULL_HEAD_TIMEOUT_MS = 300_000;

export interface PullMessage extends PullProgress {
  error?: string;
  errorDetail?: { message?: string; code?: number };
}

// The engine distinguishes failures only by text.
const UNKNOWN_IMAGE =
  /not found|manifest unknown|name unknown|does not exist|no such image|not known/i;
export const DISK_FULL = /no space left on device|disk quota exceeded/i;
// Messages about something else that is missing: a host, a certificate, a credential helper.
const NOT_THE_IMAGE = /no such host|executable file not found|x509:|certificate/i;

function toPullError(message: string, cause?: unknown): EngineError {
  const status = DISK_FULL.test(message)
    ? 507
    : UNKNOWN_IMAGE.test(message) && !NOT_THE_IMAGE.test(message)
    ? 404
    : 502;
  return new EngineError(status, message, { cause });
}
