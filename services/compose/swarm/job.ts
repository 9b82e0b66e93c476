/** The jobs that deploy Swarm stacks and remove them. @module */

import type { NamedJobKind } from "../../jobs/kind.ts";
import type { DeployResult } from "../deploy/job.ts";
import { deployEvent, downEvent } from "../deploy/kinds.ts";
import { reserveServices } from "../../swarm/reserved.ts";
import type { SwarmDeployInput, SwarmDownInput, SwarmDownResult } from "./input.ts";

/** Loaded on first use, because most starts of the service have no deploy to resume. */
const deploy: NamedJobKind<SwarmDeployInput, DeployResult>["run"] = async (deps, job) =>
  await (await import("./deploy.ts")).deploySwarmStack(deps, job);

const down: NamedJobKind<SwarmDownInput, SwarmDownResult>["run"] = async (deps, job) =>
  await (await import("./down.ts")).removeSwarmStack(deps, job);

const SHARED = {
  group: "Stacks",
  isListed: true,
  outlivesEngine: true,
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
} as const;

export const swarmDeployKind: NamedJobKind<SwarmDeployInput, DeployResult> = {
  ...SHARED,
  id: "stack.swarm_deploy",
  title: "Deploy",
  running: "Deploying {target}",
  steps: {
    plan: "Plan",
    networks: "Create networks",
    values: "Create secrets and configs",
    create: "Create a service",
    started: "Wait until the tasks of the new service run",
    read: "Read a service",
    change: "Change the service",
    wait: "Wait until its tasks run",
    failure: "Record the failure",
    remove: "Remove services",
    "rollback remove": "Remove a new service again",
    "rollback read": "Read a service to be rolled back",
    "rollback change": "Return the service to its earlier version",
    "rollback wait": "Wait until its earlier tasks run",
    "clean up": "Remove earlier secrets and configs",
  },
  reserve: reserveServices("deployed"),
  run: deploy,
  recover: deploy,
  endEvent: deployEvent,
};

export const swarmDownKind: NamedJobKind<SwarmDownInput, SwarmDownResult> = {
  ...SHARED,
  id: "stack.swarm_down",
  title: "Down",
  running: "Removing {target}",
  steps: {
    services: "Remove services",
    tasks: "Wait until their tasks have ended",
    networks: "Remove networks",
    values: "Remove secrets and configs",
  },
  reserve: reserveServices("removed"),
  run: down,
  recover: down,
  endEvent: downEvent,
};
