/** Images that services of the swarm use, also those whose tasks run on other nodes. @module */

import { canonicalReference, findReference } from "../../../engine/image_reference.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { listServices } from "../../swarm/reads.ts";
import type { ImageInUse, ImageService } from "./in_use.ts";

/**
 * Adds the services of the swarm to the images of containers. Those without a pinned digest cannot be
 * compared, and are known by their containers only.
 */
export async function withServices(
  deps: Pick<Deps, "engine" | "swarm">,
  caller: Pick<Caller, "scope">,
  images: readonly ImageInUse[],
): Promise<ImageInUse[]> {
  const byName = new Map(images.map((image) => [image.image, image]));
  for (const { image: text, digest, name, stack } of await readServices(deps, caller)) {
    const reference = findReference(text);
    if (!reference || digest === null) continue;
    const image = canonicalReference(reference);
    const known = byName.get(image) ?? { image, reference, users: [], services: [] };
    const service: ImageService = { name, stack, digest };
    byName.set(image, { ...known, services: [...known.services, service] });
  }
  return [...byName.values()].sort((a, b) => a.image < b.image ? -1 : 1);
}

async function readServices(deps: Pick<Deps, "engine" | "swarm">, caller: Pick<Caller, "scope">) {
  if (!await deps.swarm.isActive()) return [];
  try {
    return await listServices(deps, caller);
  } catch (error) {
    // The swarm has no leader, or the node was demoted.
    if (error instanceof AppError) return [];
    throw error;
  }
}
