/**
 * /api/system: the engine, what it occupies, and making room.
 *
 * @module
 */

import * as z from "zod";
import { diskBreakdown } from "../../services/ce/disk_usage.ts";
import { describeEngine } from "../../services/ce/engine_info.ts";
import { pruneSystem } from "../../services/ce/prune.ts";
import { assertMayDo } from "../../services/caller.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { Timestamp } from "../shapes.ts";

const EngineInfo = z.object({
  name: z.string().meta({ description: "Host name as the engine knows it" }),
  version: z.string(),
  apiVersion: z.string().meta({ description: "The version of its API that is spoken with it" }),
  os: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpus: z.int(),
  memoryBytes: z.int(),
  storageDriver: z.string(),
  cgroupVersion: z.string().nullable(),
  swarm: z.string().meta({ description: "inactive, pending, active, error or locked" }),
  rootless: z.boolean(),
  containers: z.int().meta({ description: "In every state" }),
  images: z.int(),
  warnings: z.array(z.string()),
});

const bytes = z.int().meta({ description: "Bytes" });
const Part = z.object({ count: z.int(), size: bytes });

const DiskBreakdown = z.object({
  containers: Part,
  images: Part,
  volumes: Part,
  buildCache: Part,
  totalSize: bytes,
  computedAt: Timestamp,
});

const Pruned = z.object({
  deleted: z.array(z.string()).meta({ description: "Ids or names", example: ["shop_old"] }),
  spaceReclaimed: bytes,
  error: z.string().nullable().meta({
    description: "Why not everything of this kind could be removed",
  }),
});

const AWAY = { 503: "The container engine cannot be reached" };

export const systemEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/system/docker",
    summary: "Show the container engine and its disk usage",
    description: "`diskUsage` is null when the engine does not get done with it in some seconds.",
    role: "viewer",
    permission: "system:read",
    returns: z.object({ info: EngineInfo, diskUsage: DiskBreakdown.nullable() }),
    failures: AWAY,
  }, () => describeEngine(deps)),

  endpoint({
    method: "get",
    path: "/api/system/disk",
    summary: "Show the engine's disk usage by kind",
    description:
      "Expensive for the engine, so an answer is kept for a minute. Where it takes longer than a " +
      "minute, the last known answer is given.",
    role: "viewer",
    permission: "system:read",
    returns: DiskBreakdown,
    failures: { 503: "The container engine cannot be reached, or is still computing" },
  }, () => diskBreakdown(deps)),

  endpoint({
    method: "post",
    path: "/api/system/prune",
    summary: "Remove what nobody uses",
    description:
      "Stopped containers, unused networks, dangling images, the build cache, and with " +
      "`includeVolumes`, which takes the permission `volumes:prune` as well, all volumes that no " +
      "container uses, with their data. A kind that fails does not stop the others.",
    role: "admin",
    permission: "system:prune",
    body: z.object({ includeVolumes: z.boolean().default(false) })
      .meta({ example: { includeVolumes: false } }),
    returns: z.object({
      containers: Pruned,
      images: Pruned,
      networks: Pruned,
      volumes: Pruned,
      buildCache: Pruned,
      totalReclaimed: bytes,
    }),
    failures: { 409: "The engine refuses, e.g. because a prune is under way already", ...AWAY },
  }, ({ body, caller }) => {
    if (body.includeVolumes) assertMayDo(caller, "admin", "volumes:prune");
    return pruneSystem(deps, body);
  }),
];
