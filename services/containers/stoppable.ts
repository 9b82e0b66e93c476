/** Containers that can be started again after a stop. @module */

import { AppError } from "../errors.ts";
import type { Container } from "./inventory.ts";
import { inspectContainer, type ReadDeps } from "./reads.ts";

/** @throws {AppError} `conflict` for a container that the engine removes when it stops. */
export async function assertStoppable(
  deps: ReadDeps,
  containers: readonly Container[],
): Promise<void> {
  for (const { id, name } of containers) {
    const { HostConfig } = await inspectContainer(deps, id);
    if (!HostConfig.AutoRemove) continue;
    throw new AppError("conflict", `${name} is removed when it stops (--rm); stop it before`);
  }
}
