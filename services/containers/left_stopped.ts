/**
 * Containers that stay stopped because their stack has moved. Their restart policy is `no`, so that an
 * engine that starts again does not start them beside the moved ones. They get the policy back when they
 * are started; a replacement that stays stopped takes its place.
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
import type { Container } from "./inventory.ts";
import { currentContainers, inspectIfThere } from "./reads.ts";
import { reconfigure } from "./reconfigure.ts";
import { identityOf } from "./reserve.ts";

type PolicyDeps = Pick<Deps, "db" | "engine">;

/** @param policy What the container gets back. */
export function recordLeftStopped(db: Database, id: string, policy: RestartPolicy): void {
  replaceLeftStopped(db, {
    containerId: id,
    policy: policy.Name ?? "no",
    maximumRetryCount: policy.MaximumRetryCount ?? 0,
  });
}

/** Whether a move has left the container stopped, and it was not started since. */
export const isLeftStopped = (db: Database, id: string): boolean =>
  selectLeftStopped(db, id) !== undefined;

/** The container as it will be with its own policy. */
export function withOwnPolicy(db: Database, container: ContainerInspect): ContainerInspect {
  const left = selectLeftStopped(db, container.Id);
  if (!left || !hasNoPolicy(container)) return container;
  return { ...container, HostConfig: { ...container.HostConfig, RestartPolicy: policyOf(left) } };
}

/** Whether it has the policy of containers that were left stopped; another one was set by others. */
const hasNoPolicy = ({ HostConfig: { RestartPolicy } }: ContainerInspect): boolean =>
  (RestartPolicy?.Name || "no") === "no";

/**
 * Gives a container its restart policy back if it was left stopped.
 *
 * @throws {EngineError} Then it is still recorded.
 */
export async function givePolicyBack(deps: PolicyDeps, id: string): Promise<void> {
  await tryOwnPolicy(deps, id);
  deleteLeftStopped(deps.db, id);
}

/** As {@linkcode givePolicyBack}, but it stays recorded, for a start that may be taken back. */
export async function tryOwnPolicy({ db, engine }: PolicyDeps, id: string): Promise<void> {
  const left = selectLeftStopped(db, id);
  const container = left && await inspectIfThere(engine, id);
  if (!left || !container || !hasNoPolicy(container)) return;
  await ifThere(reconfigure(engine, id, { RestartPolicy: policyOf(left) }));
}

/** Records the replacement of a container that was left stopped; it stays stopped as well. */
export function leaveStoppedAs(db: Database, oldId: string, newId: string): void {
  const left = selectLeftStopped(db, oldId);
  if (left) replaceLeftStopped(db, { ...left, containerId: newId });
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

type KeeperDeps = PolicyDeps & Pick<Deps, "inventory" | "log" | "reservations" | "self">;

export async function returnPolicies(deps: KeeperDeps): Promise<void> {
  const left = selectAllLeftStopped(deps.db);
  if (left.length === 0) return;
  const containers = new Map((await currentContainers(deps)).map((each) => [each.id, each]));
  for (const { containerId } of left) {
    try {
      await returnPolicy(deps, containerId, containers.get(containerId));
    } catch (error) {
      if (error instanceof EngineUnreachableError) throw error;
      deps.log.warn("restart policy not restored", { id: containerId, error: String(error) });
    }
  }
}

async function returnPolicy(
  deps: KeeperDeps,
  id: string,
  listed: Container | undefined,
): Promise<void> {
  // A job changes the policy itself, e.g. before it stops the container.
  if (listed && deps.reservations.find(identityOf(listed)) !== undefined) return;
  using _ = listed && deps.reservations.reserve(identityOf(listed), "updated");
  const container = await inspectIfThere(deps.engine, id);
  if (!container || !hasNoPolicy(container)) deleteLeftStopped(deps.db, id);
  else if (container.State.Running || container.State.Restarting) await givePolicyBack(deps, id);
}
