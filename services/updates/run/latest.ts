/** Image on the registry before it is pulled, and whether it can replace the old image. @module */

import { parseReference } from "../../../engine/image_reference.ts";
import type { Deps } from "../../deps.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { blockOf } from "./blocked.ts";
import { isSamePlatform, type Platform, platformOf } from "./platform.ts";
import { blockObstacle, digestsOf, type Obstacle, type Survey } from "./survey.ts";

interface Latest {
  /** Digest of the reference on the registry; on this host without a pull; `null` if unknown. */
  digest: string | null;
  obstacles: Obstacle[];
  warnings: string[];
}

/** Longest wait for each answer of a registry, in milliseconds. */
const REGISTRY_MS = 10_000;

/** Whether the image is pulled, so that the registry decides what it is. */
export const isPulled = (pull: PullPolicy, isLocal: boolean): boolean =>
  pull === "always" || (pull === "missing" && !isLocal);

/** Whether an image came from no registry: there, its name can belong to another owner. */
export const isFromNoRegistry = (image: ImageInspect | undefined): boolean =>
  image !== undefined && !image.RepoDigests?.length;

/** The pull policy of an update without one. @param local What the reference names on this host. */
export const defaultPull = (local: ImageInspect | undefined): PullPolicy =>
  isFromNoRegistry(local) ? "never" : "always";

/**
 * Asks the registry for the digest and the platforms of the new image. A registry that does not
 * answer is a warning, because the engine may reach it.
 *
 * @param options.digest The only digest that may be installed.
 */
export async function readLatest(
  deps: Deps,
  { container, reference, local, oldImage, obstacles }: Survey,
  { pull, digest: expected }: { pull: PullPolicy; digest?: string | undefined },
): Promise<Latest> {
  const latest: Latest = { digest: null, obstacles: [], warnings: [] };
  const addBlock = (digest: string) => {
    const reason = blockOf(deps, container.name, { digest, platform: oldImage });
    const obstacle = reason === undefined ? undefined : blockObstacle(container.name, reason);
    const isKnown = obstacles.some(({ message }) => message === obstacle?.message);
    if (obstacle && !isKnown) latest.obstacles.push(obstacle);
  };
  if (!isPulled(pull, local !== undefined)) {
    if (!local) return latest;
    latest.digest = digestsOf(local, reference).at(-1)!;
    addBlock(latest.digest);
    return latest;
  }
  if (obstacles.some(({ canForce }) => !canForce)) return latest;
  const [{ headManifest, RegistryError }, { readPlatforms }] = await Promise.all([
    import("../../images/registries/client.ts"),
    import("../../images/registries/platforms.ts"),
  ]);
  const options = { timeoutMs: REGISTRY_MS };
  try {
    const image = parseReference(reference);
    const { digest } = await headManifest(deps, image, options);
    latest.digest = digest;
    addBlock(digest);
    if (expected !== undefined && digest !== expected) {
      latest.obstacles.push({ message: changedMeanwhile(reference), canForce: false });
    }
    // Reading the platforms counts as a pull, so that a known image is not read again.
    if (!oldImage || (local && digestsOf(local, reference).includes(digest))) return latest;
    const platforms = await readPlatforms(deps, { ...image, digest }, options);
    const names = platforms.map(({ os, architecture, variant }) => ({
      Os: os,
      Architecture: architecture,
      Variant: variant,
    }));
    if (names.length > 0 && !names.some((each) => isSamePlatform(each, oldImage))) {
      latest.obstacles.push({
        message: otherPlatform({ reference, name: container.name }, names, oldImage),
        canForce: true,
      });
    }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    latest.warnings.push(`The registry does not say what is new: ${error.message}`);
  }
  return latest;
}

/** The message about a tag that does not lead to the expected digest any more. */
export const changedMeanwhile = (reference: string): string =>
  `${reference} has changed meanwhile; plan the update again`;

/** Most platforms that a message names. */
const NAMED_MAX = 5;

/** E.g. `nginx:1.27 is for linux/arm64, but web runs linux/amd64`. */
export function otherPlatform(
  { reference, name }: { reference: string; name: string },
  platforms: readonly Platform[],
  current: Platform,
): string {
  const names = platforms.slice(0, NAMED_MAX).map(platformOf);
  const all = platforms.length > NAMED_MAX ? `${names.join(", ")} and others` : names.join(", ");
  return `${reference} is for ${all}, but ${name} runs ${platformOf(current)}`;
}
