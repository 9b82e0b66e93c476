/** Containers that use what a restore replaces. @module */

import { findVolume } from "../../../engine/volumes.ts";
import { usersOf } from "../../backup/volumes/users.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";
import type { RestoredPart } from "./job.ts";

/** In any state and of any stack, also those that have a volume's directory mounted by its path. */
export async function usersOfParts(
  deps: Deps,
  parts: readonly RestoredPart[],
): Promise<Container[]> {
  const byId = new Map<string, Container>();
  for (const { to: { mount } } of parts) {
    const volume = await findVolume(deps.engine, mount.source);
    for (const { container } of await usersOf(deps, mount, volume?.Mountpoint)) {
      byId.set(container.id, container);
    }
  }
  return [...byId.values()];
}
