/** The jobs that deploy stacks and remove their containers. @module */

import type { Job } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import type { NewEvent } from "../../events/events.ts";
import { type Activity, type Identity, reserveUsed } from "../../containers/reservations.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { DATA_STEPS } from "../../updates/data/step_names.ts";
import type { DeployInput, DeployResult, DownInput, DownResult } from "./job.ts";

/** Loaded on first use, because most starts of the service have no deploy to resume. */
const deploy: NamedJobKind<DeployInput, DeployResult>["run"] = async (deps, job) =>
  await (await import("./machine.ts")).deployStack(deps, job);

const down: NamedJobKind<DownInput, DownResult>["run"] = async (deps, job) =>
  await (await import("./down.ts")).takeDown(deps, job);

const reserve = (activity: Activity) =>
(
  { reservations }: Deps,
  { target, input: { affected: [first, ...affected] } }: {
    target: string;
    input: { affected: Identity[] };
  },
) => reservations.reserve(first ?? { id: target, name: target }, activity, { affected });

function reserveDeploy(deps: Deps, job: { target: string; input: DeployInput }): Disposable {
  using reserved = new DisposableStack();
  reserved.use(reserve("deployed")(deps, job));
  reserved.use(reserveUsed(deps.reservations, job.input.mounted ?? [], "deployed"));
  return reserved.move();
}

/** A cancelled deploy that changed nothing needs no report. */
const EVENT_OF = {
  succeeded: "deploy.succeeded",
  rolled_back: "deploy.rolled_back",
  failed: "deploy.failed",
  needs_attention: "deploy.needs_attention",
} as const;

/** Reports the end of a deploy. */
export function deployEvent(
  { id: jobId, target: stack, input, status, error }: Job,
): NewEvent | undefined {
  const event = EVENT_OF[status as keyof typeof EVENT_OF];
  const { version, commit } = input as DeployInput;
  return event && { event, data: { stack, version, ...commit, reason: error, jobId } };
}

export const deployKind: NamedJobKind<DeployInput, DeployResult> = {
  id: "stack.deploy",
  group: "Stacks",
  title: "Deploy",
  running: "Deploying {target}",
  isListed: true,
  steps: {
    read: "Read the sources",
    pull: "Pull images",
    plan: "Plan",
    rehearse: "Rehearse the deploy on a copy",
    ...DATA_STEPS,
    copy: "Copy the data while the containers run",
    keep: "Stop the old containers and keep their data",
    "replace networks": "Replace networks",
    network: "Create a network",
    volume: "Create a volume",
    "stop removed": "Stop removed services",
    create: "Create containers",
    start: "Start containers",
    "create dependents": "Create containers that depend on replaced ones",
    "start dependents": "Start containers that depend on replaced ones",
    verify: "Verify the new containers",
    compare: "Compare the containers with the sources",
    commit: "Remove the old containers",
    failure: "Record the failure",
    "read logs": "Read the logs of failed containers",
    "roll back": "Return to the state before the deploy",
    "remove new networks and volumes": "Remove new networks and volumes",
    "clean up": "Clean up",
  },
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
  reserve: reserveDeploy,
  run: deploy,
  recover: deploy,
  endEvent: deployEvent,
  outlivesEngine: true,
};

/** Reports a removal that failed. */
export const downEvent = (
  { id: jobId, target: stack, status, error }: Job,
): NewEvent | undefined =>
  status === "failed"
    ? { event: "stack.down_failed", data: { stack, reason: error, jobId } }
    : undefined;

export const downKind: NamedJobKind<DownInput, DownResult> = {
  id: "stack.down",
  group: "Stacks",
  title: "Down",
  running: "Removing {target}",
  isListed: true,
  steps: {
    plan: "Find the containers",
    containers: "Remove containers",
    networks: "Remove networks",
    volumes: "Remove volumes",
    images: "Remove images",
  },
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
  reserve: reserve("removed"),
  run: down,
  recover: down,
  endEvent: downEvent,
  outlivesEngine: true,
};
