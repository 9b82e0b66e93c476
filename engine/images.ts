/** Image operations of the engine's API. @module */

import type { Engine, EngineResponse } from "./client.ts";
import type { ContainerConfig } from "./container_config.ts";
import { EngineError, RefusedCallError } from "./errors.ts";
import { isImageName, parseReference } from "./image_reference.ts";
import { jsonLines } from "./json_lines.ts";
import { noSuch, segments } from "./path.ts";
import { filtersText, type Signal, withMargin } from "./query.ts";
import { type RegistryAuth, registryAuthHeader } from "./registry_auth.ts";
import { type JsonLimits, LIST_LIMITS, OBJECT_LIMITS, type Shortened } from "./shortened_json.ts";

/** One entry of `GET /images/json`. */
export interface ImageSummary extends Shortened {
  /** `sha256:...` */
  Id: string;
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
  /** Since API 1.48, with containerd's image store: of the index or image that the id names. */
  Descriptor?: { digest?: string; mediaType?: string; size?: number } | null;
  [field: string]: unknown;
}

/** Response of `GET /images/{name}/json`. */
export interface ImageInspect extends Shortened {
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

/** One layer of an image's history. */
export interface ImageLayer {
  /** `<missing>` unless the layer is an image of this host. */
  Id: string;
  /** Unix seconds. */
  Created: number;
  /** The instruction of the build. */
  CreatedBy: string;
  Tags: string[] | null;
  /** Bytes. */
  Size: number;
  Comment: string;
}

/**
 * Encodes the name of an image as a path. Engines answer with 500 to what cannot be a name.
 *
 * @throws {EngineError} 404.
 */
function imagePath(reference: string): string {
  const path = segments("image", reference);
  if (!isImageName(reference)) throw noSuch("image", reference);
  return path;
}

/** Images, newest first, without intermediate ones. */
export function imageList(
  engine: Engine,
  { sharedSize, signal }: {
    /** Fills `SharedSize`, since API 1.42. */
    sharedSize?: boolean | undefined;
  } & Signal = {},
): Promise<ImageSummary[]> {
  return engine.json("GET", "/images/json", {
    query: { "shared-size": sharedSize },
    signal,
    limits: LIST_LIMITS,
  });
}

/** A platform as the engine's API has it in requests. */
export interface ImagePlatform {
  Os?: string | undefined;
  Architecture?: string | undefined;
  Variant?: string | undefined;
}

/**
 * @param reference Id, unambiguous id prefix, or `name[:tag][@digest]`.
 * @param options.platform One of an image for several platforms; since API 1.49.
 * @throws {EngineError} 404 if the image does not exist, or not for this platform.
 */
export function imageInspect(
  engine: Engine,
  reference: string,
  { platform, limits = OBJECT_LIMITS, signal }:
    & { platform?: ImagePlatform | undefined; limits?: JsonLimits | undefined }
    & Signal = {},
): Promise<ImageInspect> {
  const asked = platform && JSON.stringify({
    os: platform.Os,
    architecture: platform.Architecture,
    variant: platform.Variant,
  });
  return engine.json("GET", `/images/${imagePath(reference)}/json`, {
    query: { platform: asked },
    signal,
    limits,
  });
}

/** The layers of an image, newest first. @throws {EngineError} 404 if the image does not exist. */
export function imageHistory(
  engine: Engine,
  reference: string,
  { signal }: Signal = {},
): Promise<ImageLayer[]> {
  return engine.json("GET", `/images/${imagePath(reference)}/history`, {
    signal,
    limits: OBJECT_LIMITS,
  });
}

/**
 * Adds a name to an image.
 *
 * @param tag.name Without a tag, e.g. `registry.example:5000/team/app`.
 * @throws {EngineError} 404 if the image does not exist.
 */
export async function imageTag(
  engine: Engine,
  reference: string,
  { name, tag }: { name: string; tag: string },
): Promise<void> {
  const path = `/images/${imagePath(reference)}/tag` as const;
  await engine.send("POST", path, { query: { repo: name, tag } });
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
  return engine.json("DELETE", `/images/${imagePath(reference)}`, {
    query: { force },
    signal,
    long: true,
    headTimeoutMs: withMargin(120),
  });
}

/** Removes untagged images that no container uses. */
export async function imagePrune(
  engine: Engine,
): Promise<{ deleted: ImageDeletion[]; spaceReclaimed: number }> {
  const pruned = await engine.json<
    { ImagesDeleted?: ImageDeletion[] | null; SpaceReclaimed?: number } | null
  >("POST", "/images/prune", {
    query: { filters: filtersText({ dangling: ["true"] }) },
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
