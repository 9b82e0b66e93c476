/** /api/stacks/:name: deploy, down and adopt @module */

import * as z from "zod";
import { adoptStack } from "../../services/compose/adopt.ts";
import { FAILURE_POLICIES } from "../../services/compose/deploy/job.ts";
import { previewDeploy, startDeploy, startDown } from "../../services/compose/deploy/start.ts";
import { PULL_POLICIES } from "../../services/images/pull_policy.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, queryBoolean } from "../contract/shapes.ts";
import { Job } from "../contract/job.ts";
import { DataChoice, PLAN_PARTS, REHEARSAL } from "../updates/shapes.ts";
import {
  Change,
  PlanOptions,
  ProjectParams,
  ShownSources,
  SOURCES_BODY_BYTES_MAX,
  StackSources,
} from "./shapes.ts";

/** A day: longer than any reasonable start. */
const SECONDS_MAX = 86_400;

const DeployOptions = PlanOptions.extend({
  version: z.int().min(1).optional().meta({
    description: "Of the stored sources; default: the current one",
  }),
  expectedVersion: z.int().min(1).optional().meta({
    description: "The current version, e.g. that of the plan; nothing is deployed if the sources " +
      "were changed since, also on disk",
  }),
  pull: z.enum(PULL_POLICIES).optional().meta({
    description: "When images are pulled; default: the `pull_policy` of each service, or `missing`",
  }),
  onFailure: z.enum(FAILURE_POLICIES).default("rollback").meta({
    description:
      "rollback: the whole stack returns to the state before; stop: services that were " +
      "started keep their new containers",
  }),
  stableSeconds: z.int().min(1).max(SECONDS_MAX).optional().meta({
    description: "How long new containers must run without a restart (default: 10), or with a " +
      "health check be healthy (default: one interval of the check)",
  }),
  healthTimeoutSeconds: z.int().min(1).max(SECONDS_MAX).optional().meta({
    description:
      "Limit of the wait for each dependency and for the verdict about new containers; " +
      "default: the time after which the engine gives up on their health checks",
  }),
  data: DataChoice.optional().meta({
    description: "Data in volumes if the deploy fails: `undo` stops all containers that are " +
      "replaced, keeps a snapshot and brings it back, `keep` leaves what the new ones wrote. " +
      "Default: the label `longshore.update.data` of each service in the Compose file, else the " +
      "setting `data`. Not with `onFailure: stop`",
  }),
  ...REHEARSAL,
}).meta({ id: "StackDeploy", example: { pull: "missing" } });

const Plan = z.object({
  version: z.int().meta({ description: "Of the sources" }),
  changes: z.array(Change).meta({ description: "Networks, volumes, then services" }),
  rehearse: z.boolean().meta({ description: "Whether it is rehearsed first" }),
  ...PLAN_PARTS,
}).meta({ id: "StackDeployPlan" });

export const stackDeployEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/stacks/:name/deploy", {
    operationId: "deployStack",
    scope: "stack",
    destructive: true,
    summary: "Deploy a stack",
    description: "Starts a job that does what `POST /api/stacks/{name}/plan` shows: networks, " +
      "volumes, then services in the order of `depends_on`, each waiting for its conditions. A " +
      "replaced container is kept until all new ones work. A deploy without changes writes nothing. " +
      "Containers of others that share a namespace of a replaced one, or are linked to it, are " +
      "recreated with it. " +
      "The services of a Swarm stack are created or updated one after another, and Swarm replaces " +
      "their tasks; if new tasks fail, all of them return to their earlier versions. " +
      "The result of a failed one has `evidence`: the last 200 lines and the health checks of the " +
      'containers that failed. With `data: "undo"`, the volumes return, too; what the new ' +
      "containers wrote is kept as a snapshot. With `plan`, nothing is done, and the response says " +
      "what would be.",
    role: "admin",
    permission: "stacks:write",
    params: ProjectParams,
    query: z.object({
      plan: queryBoolean({ fallback: false, description: "Only say what would happen" }),
    }),
    body: DeployOptions,
    produces: "application/json",
    returns: Job,
    status: 202,
    replies: { 200: { description: "With `plan`: what would happen", returns: Plan } },
    failures: {
      403: "An API token that is limited to stacks or containers: the sources use something " +
        "outside of the stack, or containers that it cannot access depend on the stack",
      404: "The stack or the version has no stored sources",
      409: "Another action is in progress, another version than the expected one is current " +
        "(with a diff), the engine does not manage a swarm, or data could not be brought back",
      ...ENGINE_FAILURES,
    },
  }, async ({ params, query, body, note, caller }) => {
    note.targets = [params.name];
    note.command = JSON.stringify(body);
    return query.plan
      ? Response.json(Plan.parse(await previewDeploy(deps, caller, params.name, body)))
      : Response.json(Job.parse(await startDeploy(deps, caller, params.name, body)), {
        status: 202,
      });
  }),

  endpoint("POST /api/stacks/:name/down", {
    operationId: "takeDownStack",
    scope: "stack",
    destructive: true,
    summary: "Remove a stack's containers",
    description: "Starts a job that stops and removes the containers and networks of a Compose " +
      "project, also of one that was deployed elsewhere, or the services, networks, secrets and " +
      "configs of a Swarm stack. The stored sources stay. Networks and volumes that " +
      "other containers need, also stopped ones, stay. The result has `warnings` about containers " +
      "of others that depended on these, and about what stays.",
    role: "admin",
    permission: "stacks:write",
    params: ProjectParams,
    body: z.object({
      volumes: z.boolean().default(false).meta({
        description: "Whether its volumes are removed with all data",
      }),
      images: z.enum(["none", "local"]).default("none").meta({
        description: "local: also the images that no other container uses",
      }),
    }).meta({ id: "StackDown", example: { volumes: false } }),
    returns: Job,
    status: 202,
    failures: {
      403:
        "Containers that this token cannot access depend on the stack, or need its networks or " +
        "volumes",
      404: "The stack does not exist",
      409: "Another action is in progress, or the engine does not manage a swarm",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, note, caller }) => {
    note.targets = [params.name];
    note.command = JSON.stringify(body);
    return startDown(deps, caller, params.name, body);
  }),

  endpoint("POST /api/stacks/:name/adopt", {
    operationId: "adoptStack",
    summary: "Adopt a project deployed elsewhere",
    description:
      "Plans a deploy of the sources. They are stored if it recreates no container, or " +
      "with `acceptRecreate`. Containers stay as they are until the next deploy.",
    role: "admin",
    permission: "stacks:write",
    params: ProjectParams,
    body: z.object({
      ...StackSources.shape,
      compose: StackSources.shape.compose.optional().meta({
        description: "The Compose text; without it, the stack is on disk: the files that the " +
          "labels of its containers name are used, which must be below one of `STACK_ROOTS`",
        example: "services:\n  web:\n    image: nginx\n",
      }),
      acceptRecreate: z.boolean().default(false),
      dryRun: z.boolean().default(false).meta({ description: "Whether nothing is stored" }),
    }).meta({
      id: "StackAdoption",
      example: { compose: "services:\n  web:\n    image: nginx\n", acceptRecreate: false },
    }),
    bodyBytesMax: SOURCES_BODY_BYTES_MAX,
    returns: z.object({
      adopted: z.boolean().meta({ description: "Whether the sources were stored" }),
      changes: z.array(Change),
      warnings: z.array(z.string()),
      sources: ShownSources.meta({ description: "Those that were planned" }),
    }).meta({ id: "StackAdoptionResult" }),
    failures: {
      404: "The project has no containers",
      409: "The stack already has sources, its files cannot be read, or the limit is reached",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, caller }) => adoptStack(deps, caller, params.name, body)),
];
