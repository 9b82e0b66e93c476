/** Labels of containers about backups, with those that their images have. @module */

import type { Container } from "../containers/inventory.ts";
import type { Deps } from "../deps.ts";
import { findStack, type StackDeps } from "../stacks/stacks.ts";
import { readLocalImages } from "../updates/check/local_images.ts";
import { isExcluded, type Labelled, MODE_LABEL } from "./modes.ts";

/** @throws {EngineUnreachableError} */
export async function withImageLabels<Of extends Pick<Container, "image" | "imageId" | "labels">>(
  deps: Pick<Deps, "engine">,
  containers: readonly Of[],
): Promise<(Of & Labelled)[]> {
  // Few containers have such labels.
  const isAsked = containers.some(({ labels }) =>
    Object.keys(labels).some((name) => name.startsWith(MODE_LABEL))
  );
  if (!isAsked) return containers.map((each) => ({ ...each, imageLabels: {} }));
  const images = await readLocalImages(deps);
  return containers.map((each) => ({ ...each, imageLabels: images.labelsOf(each.imageId) }));
}

/**
 * The name of a container whose label leaves its stack out of scheduled backups.
 *
 * @throws {AppError} `not_found`.
 * @throws {EngineUnreachableError}
 */
export async function excludedBy(
  deps: StackDeps,
  stack: string,
): Promise<string | undefined> {
  const { services } = await findStack(deps, stack);
  const containers = services.flatMap((service) => service.containers);
  return (await withImageLabels(deps, containers)).find(isExcluded)?.name;
}
