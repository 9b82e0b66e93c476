/**
 * The jobs that deploy stacks and remove their containers.
 *
 * @module
 */

import type { Deps } from "../../../deps.ts";
import type { Activity, Identity } from "../../../state/reservations.ts";
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

export const deployKind: JobKind<DeployInput, DeployResult> = {
  name: "stack.deploy",
  targetType: "stack",
  role: "admin",
  permission: "stacks:write",
  reserve: reserve("deployed"),
  run: deploy,
  recover: deploy,
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
  outlivesEngine: true,
};
