/** Starts the jobs that deploy Swarm stacks and remove them. @module */

import { selectCurrentVersion } from "../../../db/stack_versions.ts";
import type { Caller } from "../../access/caller.ts";
import { isLimited } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { DeployRequest } from "../deploy/request.ts";
import { assertServices, type LoadedStack } from "../plan/stored.ts";
import { assertNoneOwn } from "../../swarm/own_service.ts";
import { swarmDeployKind, swarmDownKind } from "./job.ts";
import { readState, type SwarmState } from "./plan.ts";

/** Whether the stored sources of a stack are those of a Swarm stack. */
export const isSwarmStack = ({ db }: Pick<Deps, "db">, name: string): boolean =>
  selectCurrentVersion(db, name)?.kind === "swarm";

/**
 * Starts the deploy of a Swarm stack as a job.
 *
 * @throws {AppError} `forbidden` for an API token that is limited to stacks, because the swarm runs
 * services that mount directories of any node; `invalid` for an unknown service; `conflict` on an engine
 * that does not manage a swarm.
 */
export async function startSwarmDeploy(
  deps: Deps,
  caller: Caller,
  stack: LoadedStack,
  request: DeployRequest,
): Promise<JobView> {
  assertUnlimited(caller);
  assertOfSwarm(request);
  assertServices(stack, request);
  const { name } = stack.project;
  const { services } = await readState(deps, name);
  return startJob(deps, swarmDeployKind, {
    target: name,
    input: {
      version: stack.version,
      recreate: request.recreate ?? "changed",
      removeOrphans: request.removeOrphans ?? false,
      services: request.services ? [...request.services] : null,
      onFailure: request.onFailure ?? "rollback",
      affected: identitiesOf(services),
    },
    caller,
  }).job;
}

/**
 * Starts the removal of a Swarm stack as a job, also of one that was deployed elsewhere. Its sources
 * stay, and the volumes on the nodes.
 *
 * @throws {AppError} As {@linkcode startSwarmDeploy}; `not_found` for a stack without services that has
 * no sources; `conflict` for the stack that Longshore itself runs in.
 */
export async function startSwarmDown(deps: Deps, caller: Caller, name: string): Promise<JobView> {
  assertUnlimited(caller);
  const { services } = await readState(deps, name);
  if (services.size === 0 && !isSwarmStack(deps, name)) throw notFound("Stack", name);
  assertNoneOwn(deps, services.values());
  return startJob(deps, swarmDownKind, {
    target: name,
    input: { affected: identitiesOf(services) },
    caller,
  }).job;
}

const identitiesOf = (services: SwarmState["services"]) =>
  [...services].map(([name, { ID }]) => ({ id: ID, name }));

/** @throws {AppError} `invalid` for what only containers of this engine can have. */
export function assertOfSwarm({ data, rehearse, rehearseOnly }: DeployRequest): void {
  if (data !== "undo" && !rehearse && !rehearseOnly) return;
  throw new AppError("invalid", "A Swarm stack has neither a rehearsal nor an undo of its data");
}

function assertUnlimited({ scope }: Caller): void {
  if (!isLimited(scope)) return;
  throw new AppError(
    "forbidden",
    "Swarm stacks cannot be deployed or removed with an API token that is limited to stacks",
  );
}
