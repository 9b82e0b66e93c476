/** Digests of tags, compared with those by which the engine knows its images. @module */

import {
  type PlatformDigest,
  selectSeenDigest,
  updateDigestPlatforms,
  upsertSeenDigest,
} from "../../../db/updates/digests.ts";
import { insertEqualDigest } from "../../../db/updates/equal_digests.ts";
import { canonicalReference, type ImageReference } from "../../../engine/image_reference.ts";
import { imageInspect } from "../../../engine/images.ts";
import { ifReadable } from "../../containers/unreadable.ts";
import type { Deps } from "../../deps.ts";
import { headManifest, RegistryError } from "../../images/registries/client.ts";
import { readIndex } from "../../images/registries/platforms.ts";
import { isSamePlatform } from "../run/platform.ts";
import type { CheckableImage } from "./in_use.ts";
import type { Known } from "./status.ts";

/**
 * Reads the digest that a tag has now, and records it. A digest that is new is requested by itself,
 * without a pull, because a registry that states a false one does not have it.
 *
 * @param options.isKnown Whether an image of the engine has the digest.
 * @param options.since See {@linkcode upsertSeenDigest}.
 * @throws {RegistryError}
 */
export async function recordDigest(
  deps: Deps,
  reference: ImageReference,
  { isKnown, since, signal }: {
    isKnown?: (digest: string) => boolean;
    since?: string | null | undefined;
    signal: AbortSignal | undefined;
  },
): Promise<{ digest: string; rateLimitRemaining?: number }> {
  const { db, now } = deps;
  const image = canonicalReference(reference);
  const manifest = await headManifest(deps, reference, { signal });
  const { digest, isHash, kind } = manifest;
  const isTrue = isHash || isKnown?.(digest) || selectSeenDigest(db, { image, digest });
  if (!isTrue && deps.config.registryVia !== "engine") {
    await headManifest(deps, { ...reference, digest }, { signal }).catch((error) => {
      if (Object(error).reason !== "not_found") throw error;
      const problem = `${reference.registry} does not have the digest that it states`;
      throw new RegistryError("invalid", problem, { cause: error });
    });
  }
  upsertSeenDigest(db, { image, digest, at: now().toISOString(), kind, since });
  return manifest;
}

/**
 * Records which images of the engine equal the digest of an index: the engine may know an image by its
 * digest in that index. The index is read once, and not at all if the engine knows the image by an
 * index, too.
 *
 * @throws {RegistryError}
 */
export async function compareWithIndex(
  deps: Deps,
  checked: CheckableImage,
  digest: string,
  { known, signal }: { known: Known; signal?: AbortSignal | undefined },
): Promise<void> {
  const { db, engine } = deps;
  const { image, reference, users } = checked;
  const kindOf = (each: string) => selectSeenDigest(db, { image, digest: each })?.kind;
  for (const imageId of new Set(users.map(({ container }) => container.imageId))) {
    const local = known.digestsOf(checked, imageId);
    const isComparable = local.includes(digest) || known.isEqual({ imageId, digest }) ||
      kindOf(digest) === "image" || local.every((each) => kindOf(each) === "index");
    if (isComparable) continue;
    const platforms = selectSeenDigest(db, { image, digest })?.platforms ??
      await readPlatforms(deps, { ...reference, digest }, signal);
    if (platforms === undefined) return;
    updateDigestPlatforms(db, { image, digest, platforms });
    const same = platforms.filter((platform) => local.includes(platform.digest));
    if (same.length === 0) continue;
    const own = await ifReadable(engine, imageInspect(engine, imageId, { signal }));
    if (own && same.some((each) => isSamePlatform(toEnginePlatform(each), own))) {
      insertEqualDigest(db, { imageId, digest });
    }
  }
}

const toEnginePlatform = ({ os, architecture, variant }: PlatformDigest) => ({
  Os: os,
  Architecture: architecture,
  Variant: variant,
});

/** `undefined` if only the engine reaches the registry, because it does not report them. */
async function readPlatforms(
  deps: Deps,
  reference: ImageReference,
  signal: AbortSignal | undefined,
): Promise<readonly PlatformDigest[] | undefined> {
  try {
    return (await readIndex(deps, reference, { signal })).platforms;
  } catch (error) {
    if (error instanceof RegistryError && error.reason === "unreachable") return undefined;
    throw error;
  }
}
