/** /api/containers/:id: rename, limits, delete. @module */

import * as z from "zod";
import { getContainer } from "../../services/containers/detail.ts";
import { changeLimits, RESTART_POLICIES } from "../../services/containers/limits.ts";
import { namesOf } from "../../services/containers/reads.ts";
import { removeContainer } from "../../services/containers/removal.ts";
import { renameContainer } from "../../services/renames/rename.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { EngineName, queryBoolean } from "../contract/shapes.ts";
import { ActionResult, ContainerDetail, ContainerParams, UNKNOWN } from "./shapes.ts";

/** The engine's minimum, in bytes. */
const MEMORY_MIN = 6 * 1024 * 1024;

/** More cores and processes than a host has; the engine checks against the host. */
const CPUS_MAX = 10_000;
const PIDS_MAX = 4_194_304;
const RETRIES_MAX = 1_000_000;

const UNLIMITED = -1;

const Limits = z.object({
  cpus: z.number().min(0.01).max(CPUS_MAX).optional().meta({ description: "Cores" }),
  memoryBytes: z.int().min(MEMORY_MIN).optional(),
  memorySwapBytes: z.union([z.literal(UNLIMITED), z.int().min(MEMORY_MIN)]).optional().meta({
    description: "Memory and swap together; -1 is unlimited. Default: the same swap as before",
  }),
  pidsLimit: z.union([z.literal(UNLIMITED), z.int().min(1).max(PIDS_MAX)]).optional().meta({
    description: "Number of processes and threads; -1 is unlimited",
  }),
  restartPolicy: z.strictObject({
    name: z.enum(RESTART_POLICIES),
    maximumRetryCount: z.int().min(0).max(RETRIES_MAX).optional().meta({
      description: "Only with on-failure; 0 is unlimited",
    }),
  }).optional(),
})
  .refine((limits) => Object.values(limits).some((value) => value !== undefined), {
    error: "must have at least one field",
  })
  .meta({
    id: "ContainerLimits",
    example: { cpus: 1.5, memoryBytes: 268_435_456, restartPolicy: { name: "unless-stopped" } },
  });

export const containerSettingsEndpoints = (deps: Deps) => [
  endpoint("POST /api/containers/:id/rename", {
    operationId: "renameContainer",
    summary: "Rename a container",
    description:
      "The metrics history, open alerts and problems, and schedules with the container's id " +
      "follow; schedules, rules, channels and silences with its name keep the name.",
    role: "admin",
    permission: "containers:write",
    params: ContainerParams,
    body: z.object({ name: EngineName }).meta({ id: "NewName", example: { name: "web-old" } }),
    returns: ActionResult,
    failures: {
      ...UNKNOWN,
      409: "Another action is in progress, the name is in use, or it is the service's own " +
        "container",
    },
  }, ({ params, body, note }) => {
    note.targets = [...namesOf(deps, [params.id]), body.name];
    note.command = body.name;
    return renameContainer(deps, params.id, body.name);
  }),

  endpoint("PUT /api/containers/:id/limits", {
    operationId: "setContainerLimits",
    scope: "container",
    summary: "Set limits of a container",
    description:
      "Takes effect without a restart. Missing fields stay as they are. The engine can " +
      "remove limits of processes and swap (-1), but not those of CPU and memory. A rebuild keeps " +
      "the limits; Compose applies its own file again.",
    role: "admin",
    permission: "containers:write",
    params: ContainerParams,
    body: Limits,
    returns: ContainerDetail,
    failures: {
      ...UNKNOWN,
      409: "Another action is in progress, the kernel refuses, e.g. because the container uses " +
        "more memory, the engine cannot change limits (Podman 4), or it is the service's own " +
        "container",
    },
  }, async ({ params, body, note, caller }) => {
    note.command = JSON.stringify(body);
    return await getContainer(deps, await changeLimits(deps, params.id, body), caller);
  }),

  endpoint("DELETE /api/containers/:id", {
    operationId: "deleteContainer",
    scope: "container",
    summary: "Delete a container",
    description: "Deletes all data in it that is not in a volume or on the host.",
    role: "admin",
    permission: "containers:delete",
    params: ContainerParams,
    query: z.object({
      force: queryBoolean({
        fallback: false,
        description: "Kill it first, and ignore containers that share its network",
      }),
      volumes: queryBoolean({ fallback: false, description: "Also delete its anonymous volumes" }),
    }),
    returns: z.object({
      ok: z.literal(true),
      id: z.string(),
      name: z.string().meta({ example: "web" }),
    }).meta({ id: "ContainerDeletion" }),
    failures: {
      ...UNKNOWN,
      409: "Another action is in progress, the container is running or others depend on it and " +
        "`force` is false, or it is the service's own container",
    },
  }, ({ params, query, note, caller }) => {
    if (query.force) note.command = "force";
    return removeContainer(deps, params.id, { ...query, scope: caller.scope });
  }),
];
