/** Image operations of the engine's API. @module */

import type { Engine } from "./client.ts";
import type { ContainerConfig } from "./container_config.ts";
import { isImageName } from "./image_reference.ts";
import { noSuch, segments } from "./path.ts";
import { filtersText, type Signal, withMargin } from "./query.ts";
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
export function imagePath(reference: string): string {
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
export function imageHistory(engine: Engine, reference: string): Promise<ImageLayer[]> {
  return engine.json("GET", `/images/${imagePath(reference)}/history`, { limits: OBJECT_LIMITS });
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
