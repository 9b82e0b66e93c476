/** /api/fleet/run: the same action on several hosts. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { HOST_STATES } from "../../services/fleet/hosts/state.ts";
import { RUN_ACTIONS, type RunAction } from "../../services/fleet/runs/run.ts";
import { planRun, type RunRequest, startRun } from "../../services/fleet/runs/start.ts";
import { rawEndpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { queryBoolean } from "../contract/shapes.ts";
import { HostLabels } from "../scope_shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import { NEEDS_INCLUDE_VOLUMES, pruneFields, saysVolumesTwice } from "../system/prune_shape.ts";
import { HostName } from "./shapes.ts";

/** Limit of hosts. */
const HOSTS_MAX = 200;

const Chosen = {
  hosts: z.array(z.string().min(1).max(255)).min(1).max(HOSTS_MAX).optional().meta({
    description: "Names or ids of hosts",
    example: ["edge-7"],
  }),
  labels: HostLabels.unwrap().optional().meta({
    description: "Instead of `hosts`: all hosts that have one of these labels",
    example: ["site=kiel"],
  }),
};

const isOneChoice = ({ hosts, labels }: { hosts?: unknown; labels?: unknown }) =>
  (hosts === undefined) !== (labels === undefined);
const ONE_CHOICE = { error: "needs either hosts or labels" };

const StackUpdate = z.strictObject({
  stack: StackName,
  pull: z.enum(["always", "missing"]).default("always"),
});

const StackDeploy = z.strictObject({ stack: StackName });

const Run = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("prune"),
    ...Chosen,
    options: z.strictObject(pruneFields).refine(saysVolumesTwice, NEEDS_INCLUDE_VOLUMES)
      .prefault({}),
  }),
  z.strictObject({
    action: z.literal("update-check"),
    ...Chosen,
    options: z.strictObject({}).prefault({}),
  }),
  z.strictObject({ action: z.literal("update"), ...Chosen, options: StackUpdate }),
  z.strictObject({ action: z.literal("deploy"), ...Chosen, options: StackDeploy }),
]).refine(isOneChoice, ONE_CHOICE).meta({
  id: "FleetRun",
  example: { action: "update-check", labels: ["site=kiel"], options: {} },
});

const Plan = z.object({
  hosts: z.array(z.object({
    id: z.string(),
    name: HostName,
    state: z.enum(HOST_STATES),
    obstacle: z.string().nullable().meta({ description: "Why nothing will be done there" }),
  })),
}).meta({ id: "FleetRunPlan" });

const [{ role, permission }, ...others] = Object.values(RUN_ACTIONS).toSorted((one, other) =>
  one.role === other.role ? 0 : one.role === "operator" ? -1 : 1
) as [typeof RUN_ACTIONS[RunAction], ...typeof RUN_ACTIONS[RunAction][]];

export const runEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/fleet/run", {
    operationId: "runOnFleetHosts",
    summary: "Run an action on hosts",
    description:
      "Starts a job that does the same on several hosts, eight at a time, as the calling " +
      "user: `prune` and `update-check` as at the host itself, `update` of a stack there, and " +
      "`deploy` of a stack whose sources are stored at this server. Its result has an outcome for " +
      "each host: `done`, `failed` with the first line of the error, `refused` with the reason, " +
      "or `away`; of a prune, `pruned` has the number of removed objects of each kind and " +
      "`freedBytes`. No host is asked twice, also after a crash. Cancelling the job cancels what runs " +
      "at the hosts. With `plan`, nothing is done, and the response says which hosts will be asked.",
    role,
    permission,
    orPermissions: others.map((each) => each.permission),
    scope: "hosts",
    destructive: true,
    query: z.object({
      plan: queryBoolean({ fallback: false, description: "Only say where it would run" }),
    }),
    body: Run,
    produces: "application/json",
    returns: Job,
    status: 202,
    replies: { 200: { description: "With `plan`: the hosts", returns: Plan } },
    failures: {
      404: "A host does not exist, or the stack has no stored sources",
      409: "No host has one of the labels, or the sources are on the disk of this server",
    },
  }, ({ body, query, caller, note, grantedTo }) => {
    const request = toRequest(body);
    note.target = request.action;
    note.command = JSON.stringify(body);
    if (query.plan) {
      note.unaudited = true;
      return Response.json(Plan.parse({ hosts: planRun(deps, caller, request) }));
    }
    const job = startRun(deps, caller, request, (host) => grantedTo(caller.userId, host));
    return Response.json(Job.parse(job), { status: 202 });
  }),
];

/** The name of a stack is in the path of requests to hosts. */
function toRequest({ action, hosts, labels, options }: z.output<typeof Run>): RunRequest {
  const { stack, ...others } = options as { stack?: string } & Record<string, unknown>;
  return { action, hosts, labels, stack, options: others };
}
