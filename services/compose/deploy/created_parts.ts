/** Removal of the networks and volumes that a failed deploy created. @module */

import { EngineError, ifThere } from "../../../engine/errors.ts";
import { networkRemove } from "../../../engine/networks.ts";
import { volumeRemove } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { listAll } from "../../containers/reads.ts";
import type { Project } from "../load/resolve.ts";
import type { Attempt, DeployJob, PlannedDeploy } from "./job.ts";
import { findOwnNetwork, findOwnVolume, networkStep } from "./parts.ts";
import { isOnNetwork, type PartInUse } from "./parts_in_use.ts";

/**
 * Removes the networks and volumes that the job created, after its containers.
 *
 * @returns Those that stay, because other containers have begun to use them.
 */
export async function removeCreatedParts(
  deps: Deps,
  job: DeployJob,
  project: Project,
  { networks, volumes }: PlannedDeploy,
  attempt: Attempt,
): Promise<PartInUse[]> {
  const inUse: PartInUse[] = [];
  if (networks.length + volumes.length === 0) return inUse;
  const all = await listAll(deps);
  const removeUnused = async (
    part: Omit<PartInUse, "users">,
    isUser: (container: Container) => boolean,
    remove: () => Promise<void>,
  ) => {
    const users = all.filter(isUser);
    if (users.length > 0) inUse.push({ ...part, users });
    else await removeOrConflict(remove());
  };
  for (const key of networks) {
    await attempt(async () => {
      const network = await findOwnNetwork(deps, project, key);
      const createdId = job.resultOf(networkStep(key));
      if (!network || (createdId !== undefined && createdId !== network.Id)) return;
      await removeUnused(
        { kind: "network", name: network.Name },
        (each) => isOnNetwork(each, network),
        () => networkRemove(deps.engine, network),
      );
    });
  }
  for (const key of volumes) {
    await attempt(async () => {
      const volume = await findOwnVolume(deps, project, key);
      if (!volume) return;
      await removeUnused(
        { kind: "volume", name: volume.Name },
        (each) => each.volumes.includes(volume.Name),
        () => volumeRemove(deps.engine, volume.Name),
      );
    });
  }
  return inUse;
}

async function removeOrConflict(removing: Promise<void>): Promise<void> {
  try {
    await ifThere(removing);
  } catch (error) {
    if (error instanceof EngineError) throw new AppError("conflict", error.message);
    throw error;
  }
}
