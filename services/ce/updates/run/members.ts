/**
 * The containers that an update replaces: its target, and those that share namespaces of it or are
 * linked to it. What is recorded of them is enough to go on or back after a crash.
 *
 * @module
 */

import type { Engine } from "../../../../engine/client.ts";
import {
  type ContainerInspect,
  containerInspect,
  type RestartPolicy,
} from "../../../../engine/containers.ts";
import { containerUpdate } from "../../../../engine/container_update.ts";
import { EngineError, ifThere } from "../../../../engine/errors.ts";
import { markedName } from "../../rebuild/marks.ts";
import { isUp, nameOf } from "../../rebuild/replace.ts";
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

/** The name of one of the two containers while the other one has the name. */
export const temporaryName = ({ name, ran, oldId }: Member, role: "old" | "new"): string =>
  markedName({ name, role, ran, oldId });

/** `undefined` if it no longer exists. */
export const inspectIfThere = (engine: Engine, id: string) => ifThere(containerInspect(engine, id));

/**
 * Sets a restart policy. An engine that starts again meanwhile must not start both containers of a
 * pair.
 */
export async function setRestartPolicy(
  engine: Engine,
  container: ContainerInspect,
  policy: RestartPolicy,
): Promise<void> {
  if ((container.HostConfig.RestartPolicy?.Name || "no") === (policy.Name || "no")) return;
  try {
    await containerUpdate(engine, container.Id, {
      body: { RestartPolicy: { ...policy, Name: policy.Name || "no" } },
    });
  } catch (error) {
    // Podman 4 cannot change it, and starts no containers when it starts.
    const isUnsupported = error instanceof EngineError && error.status === 404 &&
      !/no such container/i.test(error.message);
    if (!isUnsupported) throw error;
  }
}
