/** /api/containers: list, detail, actions, processes. @module */

import * as z from "zod";
import {
  actOnContainers,
  CONTAINER_ACTIONS,
  restartContainer,
  startContainer,
  STOP_TIMEOUT_S,
  stopContainer,
} from "../../services/containers/actions.ts";
import { getContainer } from "../../services/containers/detail.ts";
import { PULL_POLICIES } from "../../services/images/pull_policy.ts";
import { namesOf } from "../../services/containers/reads.ts";
import {
  listContainers,
  listProcesses,
  listVersion,
} from "../../services/containers/containers.ts";
import { assertMayDo } from "../../services/access/caller.ts";
import { visibleTo } from "../../services/containers/visible.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, queryInteger } from "../contract/shapes.ts";
import {
  ActionResult,
  BUSY,
  ContainerDetail,
  ContainerListItem,
  ContainerParams,
  ContainerRef,
  ContainerState,
  UNKNOWN,
} from "./shapes.ts";

const ListQuery = z.object({
  state: ContainerState.optional(),
  stack: z.string().min(1).max(255).optional(),
  name: z.string().min(1).max(255).optional().meta({ description: "Part of the name" }),
});

const StopQuery = z.object({
  t: queryInteger({
    min: 0,
    max: 300,
    fallback: STOP_TIMEOUT_S,
    description: "Seconds before it is killed",
  }),
});

/** Limit of containers per bulk action. */
const BULK_MAX = 20;

const BulkBody = z.object({
  ids: z.array(ContainerRef).min(1).max(BULK_MAX),
  action: z.enum(CONTAINER_ACTIONS),
}).meta({ id: "BulkAction" });

const OWN = { 403: "The role does not allow this, or it is the service's own container" };

export const containerEndpoints = (deps: Deps) => [
  endpoint("GET /api/containers", {
    operationId: "listContainers",
    scope: "filtered",
    summary: "List containers",
    description: "All states, newest first. Running containers are sampled every 15 seconds.",
    role: "viewer",
    permission: "containers:read",
    query: ListQuery,
    returns: z.object({ containers: z.array(ContainerListItem) }).meta({ id: "ContainerList" }),
    failures: ENGINE_FAILURES,
    etag: true,
    version: () => listVersion(deps),
  }, async ({ query, caller }) => ({
    containers: await listContainers(visibleTo(deps, caller), query),
  })),

  endpoint("POST /api/containers/bulk", {
    operationId: "actOnContainers",
    scope: "filtered",
    destructive: true,
    summary: "Start, stop or restart several containers",
    description:
      "The containers are processed in parallel; a failure does not stop the others. A " +
      "custom role must grant the action.",
    role: "operator",
    permission: "containers:restart",
    orPermissions: ["containers:start", "containers:stop"],
    body: BulkBody,
    returns: z.object({
      results: z.array(z.object({
        id: z.string(),
        ok: z.boolean(),
        state: ContainerState.nullable(),
        error: z.string().nullable(),
      })),
      succeeded: z.int(),
      failed: z.int(),
    }).meta({
      id: "BulkActionResult",
      example: {
        results: [
          { id: "web", ok: true, state: "running", error: null },
          { id: "db", ok: false, state: null, error: "Container db does not exist" },
        ],
        succeeded: 1,
        failed: 1,
      },
    }),
    failures: ENGINE_FAILURES,
  }, ({ body, caller, note }) => {
    note.targets = namesOf(deps, body.ids);
    note.command = body.action;
    assertMayDo(caller, "operator", `containers:${body.action}`);
    return actOnContainers(deps, body.ids, body.action, caller);
  }),

  endpoint("GET /api/containers/:id", {
    operationId: "getContainer",
    scope: "container",
    summary: "Get a container",
    role: "viewer",
    permission: "containers:read",
    params: ContainerParams,
    returns: ContainerDetail,
    failures: {
      403: "The role does not allow this; the service's own container is for admins",
      ...UNKNOWN,
    },
  }, ({ params, caller }) => getContainer(deps, params.id, caller)),

  endpoint("POST /api/containers/:id/start", {
    operationId: "startContainer",
    scope: "container",
    summary: "Start a container",
    role: "operator",
    permission: "containers:start",
    params: ContainerParams,
    returns: ActionResult,
    failures: { ...UNKNOWN, ...BUSY },
  }, ({ params }) => startContainer(deps, params.id)),

  endpoint("POST /api/containers/:id/stop", {
    operationId: "stopContainer",
    scope: "container",
    destructive: true,
    summary: "Stop a container",
    role: "operator",
    permission: "containers:stop",
    params: ContainerParams,
    query: StopQuery,
    returns: ActionResult,
    failures: { ...OWN, ...UNKNOWN, ...BUSY },
  }, ({ params, query }) => stopContainer(deps, params.id, { timeoutS: query.t })),

  endpoint("POST /api/containers/:id/restart", {
    operationId: "restartContainer",
    scope: "container",
    destructive: true,
    summary: "Restart a container",
    role: "operator",
    permission: "containers:restart",
    params: ContainerParams,
    query: StopQuery,
    returns: ActionResult,
    failures: { ...OWN, ...UNKNOWN, ...BUSY },
  }, ({ params, query }) => restartContainer(deps, params.id, { timeoutS: query.t })),

  endpoint("POST /api/containers/:id/rebuild", {
    operationId: "rebuildContainer",
    scope: "container",
    destructive: true,
    summary: "Recreate a container from its image",
    description: "Pulls the image and replaces the container. Name, mounts (including anonymous " +
      "volumes), networks and limits are kept. If any step fails, the old container is " +
      "restored. Runs as a job; the response follows when the new container has started, or with " +
      "503 when the engine is lost: the job then continues when it is back.",
    role: "admin",
    permission: "containers:rebuild",
    params: ContainerParams,
    body: z.object({ pull: z.enum(PULL_POLICIES).default("always") })
      .meta({ id: "RebuildOptions", example: { pull: "always" } }),
    returns: z.object({
      ok: z.literal(true),
      oldId: z.string(),
      id: z.string(),
      image: z.string().meta({ example: "registry.example.com/shop/web:2" }),
      imageUpdated: z.boolean(),
    }).meta({ id: "RebuildResult" }),
    failures: {
      ...OWN,
      404: "The container or its image does not exist",
      409: "Another action is in progress, or the new container cannot be created or started",
      ...ENGINE_FAILURES,
      502: "The registry or the engine failed or refused",
    },
  }, async ({ params, body, caller }) => {
    const { rebuildContainer } = await import("../../services/updates/rebuild/rebuild.ts");
    return await rebuildContainer(deps, params.id, { ...body, actor: caller });
  }),

  endpoint("GET /api/containers/:id/top", {
    operationId: "listContainerProcesses",
    scope: "container",
    summary: "List processes of a container",
    role: "viewer",
    permission: "containers:read",
    params: ContainerParams,
    returns: z.object({ titles: z.array(z.string()), processes: z.array(z.array(z.string())) })
      .meta({
        id: "ProcessList",
        example: { titles: ["PID", "USER", "COMMAND"], processes: [["1", "root", "nginx"]] },
      }),
    failures: { ...UNKNOWN, 409: "The container is not running" },
  }, ({ params }) => listProcesses(deps, params.id)),
];
