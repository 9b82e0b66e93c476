/** Services with `build`: nothing is built here, so the engine must have their images. @module */

import { EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { nameReference } from "../../engine/image_reference.ts";
import { imageInspect } from "../../engine/images.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { issueText, type LoadIssue, type UnbuiltImage } from "./load/scope.ts";

/** Returns an error for each service whose image the engine does not have. */
export async function findUnbuilt(
  { engine }: Pick<Deps, "engine">,
  builds: readonly UnbuiltImage[],
): Promise<LoadIssue[]> {
  const unbuilt: LoadIssue[] = [];
  for (const [image, services] of Map.groupBy(builds, ({ image }) => image)) {
    if (await ifThere(imageInspect(engine, nameReference(image)))) continue;
    unbuilt.push(...services.map(({ image: _, ...issue }) => issue));
  }
  return unbuilt;
}

/** Like {@linkcode findUnbuilt}; none while the engine cannot be asked. */
export async function findUnbuiltIfReachable(
  deps: Pick<Deps, "engine">,
  builds: readonly UnbuiltImage[],
): Promise<LoadIssue[]> {
  try {
    return await findUnbuilt(deps, builds);
  } catch (error) {
    if (error instanceof EngineUnreachableError) return [];
    throw error;
  }
}

/** @throws {AppError} `conflict` if the engine does not have an image that would have to be built. */
export async function assertBuilt(
  deps: Pick<Deps, "engine">,
  builds: readonly UnbuiltImage[],
): Promise<void> {
  const [missing] = await findUnbuilt(deps, builds);
  if (!missing) return;
  throw new AppError("conflict", issueText(missing));
}
