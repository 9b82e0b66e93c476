/**
 * Containers that stay stopped because their stack has moved. Their restart policy is `no`, so that an
 * engine that starts again does not start them beside the moved ones. Whatever starts, updates or
 * deploys them gives the policy back.
 *
 * @module
 */

import type { Database } from "../../db/database.ts";
import {
  deleteLeftStopped,
  type LeftStopped,
  replaceLeftStopped,
  selectAllLeftStopped,
  selectLeftStopped,
} from "../../db/left_stopped.ts";
import type { ContainerInspect, RestartPolicy } from "../../engine/containers.ts";
import { EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { rounds, type Worker } from "../lifecycle.ts";
import { currentContainers, isUp } from "./reads.ts";
import { reconfigure } from "./reconfigure.ts";

type PolicyDeps = Pick<Deps, "db" | "engine">;

/** @param policy What the container gets back. */
export function recordLeftStopped(db: Database, id: string, policy: RestartPolicy): void {
  replaceLeftStopped(db, {
    containerId: id,
    policy: policy.Name ?? "no",
    maximumRetryCount: policy.MaximumRetryCount ?? 0,
  });
}

/** The container as it will be with its own policy. */
export function withOwnPolicy(db: Database, container: ContainerInspect): ContainerInspect {
  const left = selectLeftStopped(db, container.Id);
  if (!left) return container;
  return { ...container, HostConfig: { ...container.HostConfig, RestartPolicy: policyOf(left) } };
}

/**
 * Gives a container its restart policy back if it was left stopped.
 *
 * @throws {EngineError} Then it is still recorded.
 */
export async function givePolicyBack({ db, engine }: PolicyDeps, id: string): Promise<void> {
  const left = selectLeftStopped(db, id);
  if (!left) return;
  await ifThere(reconfigure(engine, id, { RestartPolicy: policyOf(left) }));
  deleteLeftStopped(db, id);
}

/** Forgets the policy of a container that got another one. */
export const forgetPolicy = deleteLeftStopped;

const policyOf = ({ policy, maximumRetryCount }: LeftStopped): RestartPolicy => ({
  Name: policy,
  MaximumRetryCount: maximumRetryCount,
});

const ROUND_MS = 60_000;

/** Gives policies back to containers that others have started, and forgets removed ones. */
export const leftStoppedKeeper: Worker = {
  name: "left stopped keeper",
  edition: "ce",
  run: rounds(ROUND_MS, async (deps) => {
    try {
      await returnPolicies(deps);
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error;
    }
  }),
};

export async function returnPolicies(
  deps: PolicyDeps & Pick<Deps, "inventory" | "self">,
): Promise<void> {
  const left = selectAllLeftStopped(deps.db);
  if (left.length === 0) return;
  const containers = new Map((await currentContainers(deps)).map((each) => [each.id, each]));
  for (const { containerId } of left) {
    const container = containers.get(containerId);
    if (!container) deleteLeftStopped(deps.db, containerId);
    else if (isUp(container)) await givePolicyBack(deps, containerId);
  }
}
