/** The jobs that deploy stacks and remove their containers. @module */

import type { Job } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import type { NewEvent } from "../../events/events.ts";
import type { Activity, Identity } from "../../containers/reservations.ts";
import type { JobKind } from "../../jobs/kind.ts";
import type { DeployInput, DeployResult, DownInput, DownResult } from "./job.ts";

/** Loaded on first use, because most starts of the service have no deploy to resume. */
const deploy: JobKind<DeployInput, DeployResult>["run"] = async (deps, job) =>
  await (await import("./machine.ts")).deployStack(deps, job);

const down: JobKind<DownInput, DownResult>["run"] = async (deps, job) =>
  await (await import("./down.ts")).takeDown(deps, job);

const reserve = (activity: Activity) =>
(
  { reservations }: Deps,
  { target, input: { affected: [first, ...affected] } }: {
    target: string;
    input: { affected: Identity[] };
  },
) => reservations.reserve(first ?? { id: target, name: target }, activity, { affected });

/** A cancelled deploy that changed nothing needs no report. */
const EVENT_OF = {
  succeeded: "deploy.succeeded",
  rolled_back: "deploy.rolled_back",
  failed: "deploy.failed",
  needs_attention: "deploy.needs_attention",
} as const;

function deployEvent(
  { id: jobId, target: stack, input, status, error }: Job,
): NewEvent | undefined {
  const event = EVENT_OF[status as keyof typeof EVENT_OF];
  const { version } = input as DeployInput;
  return event && { event, data: { stack, version, reason: error, jobId } };
}

export const deployKind: JobKind<DeployInput, DeployResult> = {
  name: "stack.deploy",
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
  reserve: reserve("deployed"),
  run: deploy,
  recover: deploy,
  endEvent: deployEvent,
  outlivesEngine: true,
};

export const downKind: JobKind<DownInput, DownResult> = {
  name: "stack.down",
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
  reserve: reserve("removed"),
  run: down,
  recover: down,
  endEvent: ({ id: jobId, target: stack, status, error }) =>
    status === "failed"
      ? { event: "stack.down_failed", data: { stack, reason: error, jobId } }
      : undefined,
  outlivesEngine: true,
};
