/** Platforms of images, as registries report them. Reads of an index count as pulls. @module */

import type { ImageReference } from "../../../engine/image_reference.ts";
import { accessFor, type RegistryAccess } from "./access.ts";
import { invalidAnswer, parseContent } from "./answers.ts";
import {
  type Content,
  DIGEST,
  getManifest,
  INDEX_TYPES,
  MANIFEST_MAX,
  type Options,
  orViaEngine,
  type RegistryDeps,
} from "./client.ts";
import { RegistryError } from "./error.ts";
import { registryRequest } from "./requests.ts";
import { inspectViaEngine } from "./via_engine.ts";

export interface Platform {
  os: string;
  architecture: string;
  variant?: string;
}

/** The image of one platform in an index. */
interface PlatformDigest extends Platform {
  digest: string;
}

interface ImageIndex {
  digest: string;
  /** Empty for an image of one platform. */
  platforms: PlatformDigest[];
}

/** Limits of what is read of an index. */
const PLATFORMS_MAX = 500;
const LEVELS_MAX = 3;
const NESTED_MAX = 10;

/** Maximum length of the name of a system or architecture. */
const NAME_MAX = 50;

/**
 * Reads the digests of an image's platforms. Nested indexes are included, up to three levels.
 *
 * @throws {RegistryError} Also if only the engine can reach the registry, because the engine does not
 * report these digests.
 */
export async function readIndex(
  deps: RegistryDeps,
  reference: ImageReference,
  options: Options = {},
): Promise<ImageIndex> {
  if (deps.config.registryVia === "engine") {
    throw new RegistryError(
      "unreachable",
      "The engine does not report the digests of platforms (REGISTRY_VIA=engine)",
    );
  }
  const access = accessFor(deps, reference);
  const { digest, content } = await getManifest(deps, access, reference, options);
  return { digest, platforms: await platformsOf(deps, access, reference, content, options) };
}

/**
 * Reads the platforms that an image is for. If the registry cannot be reached, the engine is asked.
 *
 * @throws {RegistryError}
 */
export async function readPlatforms(
  deps: RegistryDeps,
  reference: ImageReference,
  options: Options = {},
): Promise<Platform[]> {
  return await orViaEngine(deps, async () => {
    const access = accessFor(deps, reference);
    const { content } = await getManifest(deps, access, reference, options);
    if (content.manifests !== undefined) {
      return await platformsOf(deps, access, reference, content, options);
    }
    const platform = await readConfig(deps, access, reference, content, options);
    return platform ? [platform] : [];
  }, async () => {
    const { Platforms } = await inspectViaEngine(deps, reference, options);
    return (Platforms ?? []).flatMap((platform) => toPlatform(platform) ?? []);
  });
}

/** Levels of nested indexes, and how many of them are still read. */
interface Depth {
  level: number;
  budget: { nested: number };
}

async function platformsOf(
  deps: RegistryDeps,
  access: RegistryAccess,
  reference: ImageReference,
  { manifests }: Content,
  options: Options,
  { level, budget }: Depth = { level: 1, budget: { nested: NESTED_MAX } },
): Promise<PlatformDigest[]> {
  if (!Array.isArray(manifests)) return [];
  const platforms: PlatformDigest[] = [];
  for (const entry of manifests.slice(0, PLATFORMS_MAX)) {
    const { mediaType, digest, platform } = Object(entry) as Content;
    if (typeof digest !== "string" || !DIGEST.test(digest)) continue;
    if (INDEX_TYPES.includes(String(mediaType))) {
      if (level === LEVELS_MAX || budget.nested-- <= 0) continue;
      const child = { ...reference, digest };
      const { content } = await getManifest(deps, access, child, options);
      const depth = { level: level + 1, budget };
      platforms.push(...await platformsOf(deps, access, child, content, options, depth));
    } else {
      const found = toPlatform(platform);
      if (found) platforms.push({ ...found, digest });
    }
  }
  return platforms.slice(0, PLATFORMS_MAX);
}

/** Reads the platform of a plain image from its configuration. */
async function readConfig(
  deps: RegistryDeps,
  access: RegistryAccess,
  { registry, repository }: ImageReference,
  { config }: Content,
  options: Options,
): Promise<Platform | undefined> {
  const { digest } = Object(config) as Content;
  if (typeof digest !== "string" || !DIGEST.test(digest)) {
    throw invalidAnswer(registry, "a manifest");
  }
  const response = await registryRequest(deps, registry, access, {
    method: "GET",
    path: `/v2/${repository}/blobs/${digest}`,
    repository,
    bodyMax: MANIFEST_MAX,
    ...options,
  });
  return toPlatform(parseContent(response, registry));
}

/** Attestations have the platform `unknown/unknown`. */
function toPlatform(value: unknown): Platform | undefined {
  const { os, architecture, variant } = Object(value) as Content;
  if (typeof os !== "string" || typeof architecture !== "string") return undefined;
  if (os === "" || os === "unknown") return undefined;
  return {
    os: os.slice(0, NAME_MAX),
    architecture: architecture.slice(0, NAME_MAX),
    ...(typeof variant === "string" && variant !== "" && { variant: variant.slice(0, NAME_MAX) }),
  };
}
