/**
 * The containers that an update replaces: its target, and those that share namespaces of it or are
 * linked to it. What is recorded of them is enough to go on or back after a crash.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import type { ContainerInspect, RestartPolicy } from "../../../engine/containers.ts";
import { markedName, type RebuildMark } from "../../containers/marks.ts";
import { reconfigure } from "../../containers/reconfigure.ts";
import { isUp, nameOf } from "../recreate/replace.ts";
import { openPorts, type PublishedPort } from "./ports.ts";

/** A container before its replacement. Stored with the job. */
export interface Member {
  oldId: string;
  name: string;
  /** Whether it was running, so that the new one is started. */
  ran: boolean;
  /** Whether it was neither unhealthy nor restarting, so that a failure of the new one is rolled back. */
  worked: boolean;
  restartPolicy: RestartPolicy;
  /** Published ports that answered. */
  ports: PublishedPort[];
}

/** A member with its new container. */
export interface Pair extends Member {
  newId: string;
  /** Restart policy of the new container; missing if it has that of the old one. */
  newPolicy?: RestartPolicy;
  /** Copy that returns in a rollback if the engine removes the old container when it stops. */
  copyId?: string;
}

export async function memberOf(old: ContainerInspect): Promise<Member> {
  const { State, HostConfig } = old;
  const ran = isUp(old);
  return {
    oldId: old.Id,
    name: nameOf(old),
    ran,
    worked: !State.Restarting && State.Health?.Status !== "unhealthy",
    restartPolicy: HostConfig.RestartPolicy ?? { Name: "no" },
    ports: ran ? await openPorts(old) : [],
  };
}

/** The name of a container of a pair while another one has the name. */
export const temporaryName = (
  { name, ran, oldId }: Pick<Member, "name" | "ran" | "oldId">,
  role: RebuildMark["role"],
): string => markedName({ name, role, ran, oldId });

export { inspectIfThere } from "../../containers/reads.ts";

/**
 * Sets a restart policy. An engine that starts again meanwhile must not start both containers of a
 * pair. Podman 4 cannot change it, and starts no containers when it starts.
 */
export async function setRestartPolicy(
  engine: Engine,
  { Id, HostConfig }: ContainerInspect,
  policy: RestartPolicy,
): Promise<void> {
  const Name = policy.Name || "no";
  if ((HostConfig.RestartPolicy?.Name || "no") === Name) return;
  await reconfigure(engine, Id, { RestartPolicy: { ...policy, Name } });
}
