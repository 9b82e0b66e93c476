/** /api/stacks/:name: update to newer images, and back. @module */

import * as z from "zod";
import { assertMayDo } from "../../services/access/caller.ts";
import { rollBackStack } from "../../services/compose/deploy/roll_back.ts";
import { PULL_POLICIES } from "../../services/images/pull_policy.ts";
import { previewStackUpdate } from "../../services/updates/run/preview_stack.ts";
import { startStackUpdate } from "../../services/updates/run/start_stack.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, queryBoolean } from "../contract/shapes.ts";
import { Job } from "../contract/job.ts";
import { ProjectParams, StackParams } from "../stacks/shapes.ts";
import { DataChoice, PLAN_PARTS, PlannedRehearsal, REHEARSAL, Verification } from "./shapes.ts";

const Plan = z.object({
  stack: z.string().meta({ example: "shop" }),
  containers: z.array(z.object({
    container: z.string().meta({ example: "shop-web-1" }),
    image: z.string().meta({ example: "nginx:1.27" }),
  })).meta({ description: "In the order in which they are updated" }),
  rehearsal: PlannedRehearsal,
  ...PLAN_PARTS,
}).meta({ id: "StackUpdatePlan" });

export const stackUpdateEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/stacks/:name/update", {
    operationId: "updateStack",
    scope: "stack",
    destructive: true,
    summary: "Update a stack",
    description: "Starts a job: it pulls all images of a compose project, except those that were " +
      "built or loaded on the host and came from no registry, then updates one container after " +
      "another as `POST /api/containers/{id}/update` does, those first on which " +
      "others depend. The old containers are removed only when the last new one works: the first " +
      "failure puts all of them back. With `atomic: false`, each container is final at once, and " +
      "the first failure ends the job. Longshore's own container is left out. With `plan`, nothing " +
      "is done, and the response says what would be.",
    role: "operator",
    permission: "stacks:update",
    params: StackParams,
    query: z.object({
      plan: queryBoolean({ fallback: false, description: "Only say what would happen" }),
    }),
    body: Verification.omit({ logPatternMustNotAppear: true, monitors: true }).extend({
      atomic: z.boolean().default(true),
      pull: z.enum(PULL_POLICIES).default("always"),
      data: DataChoice.optional().meta({
        description:
          "As with one container, for each of them; `undo` is refused for a volume that " +
          "containers share",
      }),
      force: z.boolean().default(false).meta({
        description: "As with one container",
      }),
      ...REHEARSAL,
    }).meta({ id: "StackUpdate", example: { atomic: true } }),
    produces: "application/json",
    returns: Job,
    status: 202,
    replies: { 200: { description: "With `plan`: what would happen", returns: Plan } },
    failures: {
      403: "Containers that this token cannot access depend on the stack",
      404: "The stack does not exist",
      409: "Another action is in progress, it is a Swarm stack, or data could not be brought back",
      ...ENGINE_FAILURES,
    },
  }, async ({ params, query, body, note, caller }) => {
    note.targets = [params.name];
    note.command = JSON.stringify(body);
    const request = { ...body, name: params.name, actor: caller };
    return query.plan
      ? Response.json(Plan.parse(await previewStackUpdate(deps, request)))
      : Response.json(Job.parse(await startStackUpdate(deps, request)), { status: 202 });
  }),

  endpoint("POST /api/stacks/:name/rollback", {
    operationId: "rollBackStack",
    scope: "stack",
    destructive: true,
    summary: "Roll back a stack",
    description: "Starts a job that takes back what the last update or deploy of the stack has " +
      "changed. After an update, its containers go back to their images, by the steps of an " +
      "update. After a deploy, the version before is deployed with the images of then, and " +
      "containers of services that it does not have are removed; this requires `stacks:write`. " +
      "Data in volumes stays as it is; with `data`, it goes back to before, too, and what was " +
      "written since is kept as a snapshot. Another rollback goes forward again.",
    role: "operator",
    permission: "stacks:update",
    params: ProjectParams,
    body: Verification.omit({ logPatternMustNotAppear: true, monitors: true }).extend({
      data: z.boolean().default(false).meta({
        description: "Requires the role admin or `backup:write`, and an update or deploy with " +
          '`data: "undo"`',
      }),
    }).meta({ id: "StackRollback", example: { data: true } }),
    returns: Job,
    status: 202,
    failures: {
      403: "Containers that this token cannot access depend on the stack, or the caller may not " +
        "deploy it or bring data back",
      404: "The stack does not exist",
      409: "No earlier image, version or data is kept, or as with an update or deploy",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, note, caller }) => {
    note.targets = [params.name];
    note.command = JSON.stringify(body);
    if (body.data) assertMayDo(caller, "admin", "backup:write");
    return rollBackStack(deps, caller, { ...body, name: params.name });
  }),
];
