/**
 * Image operations of the engine's API.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import type { ContainerConfig } from "./container_config.ts";
import { EngineError } from "./errors.ts";
import { jsonLines } from "./json_lines.ts";
import { segments } from "./path.ts";
import { type Filters, filtersText, withMargin } from "./query.ts";

/** One entry of `GET /images/json`. */
export interface ImageSummary {
  /** `sha256:...` */
  Id: string;
  ParentId?: string;
  /** `["<none>:<none>"]`, empty or null for dangling images. */
  RepoTags: string[] | null;
  RepoDigests: string[] | null;
  /** Unix seconds. */
  Created: number;
  /** Bytes, including layers shared with other images. */
  Size: number;
  /** Bytes; -1 if not computed. */
  SharedSize?: number;
  /** Containers that use it; -1 before API 1.51. */
  Containers?: number;
  Labels: Record<string, string> | null;
  [field: string]: unknown;
}

/** Response of `GET /images/{name}/json`. */
export interface ImageInspect {
  Id: string;
  RepoTags?: string[] | null;
  RepoDigests?: string[] | null;
  /** RFC 3339; missing or `0001-01-01T00:00:00Z` when unknown. */
  Created?: string;
  Architecture?: string;
  Os?: string;
  Variant?: string;
  Size?: number;
  /** Defaults for containers of this image. */
  Config?: ContainerConfig | null;
  Metadata?: {
    /** RFC 3339: when the image was last tagged on this host, by a pull, a build or a tag. */
    LastTagTime?: string;
  };
  RootFS?: { Type?: string; Layers?: string[] | null };
  [field: string]: unknown;
}

/** One step of a removal: a removed reference or a deleted image. */
export interface ImageDeletion {
  Untagged?: string;
  Deleted?: string;
}

/** One message of a pull. */
export interface PullProgress {
  /** E.g. `Downloading`. */
  status?: string;
  /** Id of the layer. */
  id?: string;
  progressDetail?: { current?: number; total?: number };
  [field: string]: unknown;
}

/** The parts of an image's reference. */
export interface Reference {
  /** With the registry, e.g. `registry.example:5000/team/app`. */
  name: string;
  tag: string | undefined;
  /** `sha256:...` */
  digest: string | undefined;
}

interface Signal {
  signal?: AbortSignal | undefined;
}

/** Images, newest first; intermediate images only with `all`. */
export function imageList(
  engine: Engine,
  { all, filters, sharedSize, signal }: {
    all?: boolean | undefined;
    filters?: Filters | undefined;
    /** Fills `SharedSize`, since API 1.42. */
    sharedSize?: boolean | undefined;
  } & Signal = {},
): Promise<ImageSummary[]> {
  return engine.json("GET", "/images/json", {
    query: { all, filters: filtersText(filters), "shared-size": sharedSize },
    signal,
  });
}

/**
 * @param reference Id, unambiguous id prefix, or `name[:tag][@digest]`.
 * @throws {EngineError} 404 if the image does not exist.
 */
export function imageInspect(
  engine: Engine,
  reference: string,
  { signal }: Signal = {},
): Promise<ImageInspect> {
  return engine.json("GET", `/images/${segments("image", reference)}/json`, { signal });
}

/**
 * Removes a reference of an image, and the image with its last reference.
 *
 * @param options.force Also if stopped containers use it, and with all of its references.
 * @throws {EngineError} 404 if the image does not exist; 409 if it is in use.
 */
export function imageRemove(
  engine: Engine,
  reference: string,
  { force, signal }: { force?: boolean | undefined } & Signal = {},
): Promise<ImageDeletion[]> {
  return engine.json("DELETE", `/images/${segments("image", reference)}`, {
    query: { force },
    signal,
    long: true,
    headTimeoutMs: withMargin(120),
  });
}

/**
 * Removes images that no container uses.
 *
 * @param options.dangling Only untagged images (default); false removes all unused images.
 */
export async function imagePrune(
  engine: Engine,
  { dangling = true, filters = {}, signal }: {
    dangling?: boolean | undefined;
    filters?: Filters | undefined;
  } & Signal = {},
): Promise<{ deleted: ImageDeletion[]; spaceReclaimed: number }> {
  const pruned = await engine.json<
    { ImagesDeleted?: ImageDeletion[] | null; SpaceReclaimed?: number } | null
  >("POST", "/images/prune", {
    query: { filters: filtersText({ ...filters, dangling: [String(dangling)] }) },
    signal,
    long: true,
    headTimeoutMs: withMargin(600),
  });
  return { deleted: pruned?.ImagesDeleted ?? [], spaceReclaimed: pruned?.SpaceReclaimed ?? 0 };
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
  { onProgress, signal }: {
    onProgress?: ((progress: PullProgress) => void) | undefined;
  } & Signal = {},
): Promise<void> {
  const { name, tag, digest } = splitReference(reference);
  // Without a tag the engine would pull every tag of the repository.
  const response = await engine.request("POST", "/images/create", {
    query: { fromImage: name, tag: digest ?? tag ?? "latest" },
    signal,
    long: true,
    headTimeoutMs: PULL_HEAD_TIMEOUT_MS,
  }).catch((error) => {
    // Other statuses are about the registry and differ by engine.
    throw error instanceof EngineError && error.status !== 400 && error.status !== 404
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

interface PullMessage extends PullProgress {
  error?: string;
  errorDetail?: { message?: string; code?: number };
}

// The engine distinguishes failures only by text.
const UNKNOWN_IMAGE =
  /not found|manifest unknown|name unknown|does not exist|no such image|not known/i;
const DISK_FULL = /no space left on device|disk quota exceeded/i;
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

/**
 * Splits `name[:tag][@digest]`. A colon before the last slash belongs to the registry's port.
 *
 * @throws {EngineError} 400 for an invalid reference.
 */
export function splitReference(reference: string): Reference {
  const at = reference.indexOf("@");
  const digest = at < 0 ? undefined : reference.slice(at + 1);
  const named = at < 0 ? reference : reference.slice(0, at);
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const name = colon < 0 ? named : named.slice(0, colon);

  if (
    name.length > NAME_MAX || !NAME.test(name) || (tag !== undefined && !TAG.test(tag)) ||
    (digest !== undefined && !DIGEST.test(digest))
  ) throw new EngineError(400, `Invalid image reference: ${reference.slice(0, 300)}`);
  return { name, tag, digest };
}

// https://github.com/distribution/reference: names are lower case, except for the host, and have at
// most 255 characters.
const NAME_MAX = 255;
const NAME =
  /^(?:(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}$/;
