/**
 * Whether an image came from the repository that its name says. On this host, any image can be loaded
 * or tagged with that name, and would run with the environment and the mounts of a container.
 *
 * @module
 */

import { selectPreviousImages } from "../../../db/updates/previous.ts";
import { parseReference } from "../../../engine/image_reference.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import { hasContainerdStore, systemInfo } from "../../../engine/system.ts";
import { type Caller, mayDo } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { isPulled } from "./latest.ts";
import { repositoryDigests, type Survey } from "./survey.ts";

/** How long a registry may take for each answer, in milliseconds. */
const REGISTRY_MS = 10_000;

/** Whether a caller may update only to images that came from their repository. */
export const needsKnownImage = (caller: Caller): boolean =>
  !mayDo(caller, "admin", "containers:rebuild");

/**
 * Checks the image that an update would use without a pull.
 *
 * @throws {AppError} As {@linkcode assertKnownImage}.
 */
export async function assertKnownLocal(
  deps: Deps,
  { local, reference, old, container: { name } }: Survey,
  { pull, mustBeKnown = false }: { pull: PullPolicy; mustBeKnown?: boolean | undefined },
): Promise<void> {
  if (!mustBeKnown || !local || isPulled(pull, true)) return;
  await assertKnownImage(deps, local, { reference, name, currentId: fullImageId(old.Image) });
}

/**
 * Checks that an image came from its repository, or that the container runs it or ran it before.
 *
 * @throws {AppError} `forbidden`
 */
export async function assertKnownImage(
  deps: Deps,
  image: ImageInspect,
  { reference, name, currentId }: {
    reference: string;
    /** Of the container. */
    name: string;
    /** The image that it runs. */
    currentId: string;
  },
): Promise<void> {
  const id = fullImageId(image.Id);
  if (id === currentId) return;
  if (selectPreviousImages(deps.db, name).some(({ imageId }) => imageId === id)) return;
  if (await isFromRepository(deps, image, reference)) return;
  throw new AppError(
    "forbidden",
    `The role admin or containers:rebuild is required, because ${reference} on this host did not ` +
      "come from its registry",
  );
}

async function isFromRepository(
  deps: Deps,
  image: ImageInspect,
  reference: string,
): Promise<boolean> {
  const digests = repositoryDigests(image, reference);
  if (digests.length === 0) return false;
  // There, every name of an image has a digest, also one that was given on this host.
  const isGiven = deps.engine.kind === "podman" ||
    hasContainerdStore(await systemInfo(deps.engine));
  if (!isGiven) return true;
  const { headManifest, RegistryError } = await import("../../images/registries/client.ts");
  const parsed = parseReference(reference);
  for (const digest of digests) {
    try {
      await headManifest(deps, { ...parsed, digest }, { timeoutMs: REGISTRY_MS });
      return true;
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
    }
  }
  return false;
}
