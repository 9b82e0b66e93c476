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
  name: z.string().meta({ description: "Host name reported by the engine" }),
  version: z.string(),
  apiVersion: z.string().meta({ description: "API version in use" }),
  os: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpus: z.int(),
  memoryBytes: z.int(),
  storageDriver: z.string(),
  cgroupVersion: z.string().nullable(),
  swarm: z.string().meta({ description: "inactive, pending, active, error or locked" }),
  rootless: z.boolean(),
  containers: z.int().meta({ description: "In all states" }),
  images: z.int(),
  warnings: z.array(z.string()),
}).meta({ id: "EngineInfo" });

const bytes = z.int().meta({ description: "Bytes" });
const Part = z.object({ count: z.int(), size: bytes }).meta({ id: "DiskUsagePart" });

const DiskBreakdown = z.object({
  containers: Part,
  images: Part,
  volumes: Part,
  buildCache: Part,
  totalSize: bytes,
  computedAt: Timestamp,
}).meta({ id: "DiskUsage" });

const Pruned = z.object({
  deleted: z.array(z.string()).meta({ description: "Ids or names", example: ["shop_old"] }),
  spaceReclaimed: bytes,
  error: z.string().nullable().meta({
    description: "Why not everything of this kind could be removed",
  }),
}).meta({ id: "PrunedKind" });

const AWAY = { 503: "The container engine cannot be reached" };

export const systemEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/system/docker",
    operationId: "getEngine",
    summary: "Get engine information",
    description: "`diskUsage` is null when the engine does not compute it within a few seconds.",
    role: "viewer",
    permission: "system:read",
    returns: z.object({ info: EngineInfo, diskUsage: DiskBreakdown.nullable() }).meta({
      id: "Engine",
    }),
    failures: AWAY,
  }, () => describeEngine(deps)),

  endpoint({
    method: "get",
    path: "/api/system/disk",
    operationId: "getDiskUsage",
    summary: "Get engine disk usage",
    description:
      "Expensive for the engine, so results are cached for one minute. If the engine needs " +
      "longer than a minute, the last known result is returned.",
    role: "viewer",
    permission: "system:read",
    returns: DiskBreakdown,
    failures: { 503: "The container engine cannot be reached, or is still computing" },
  }, () => diskBreakdown(deps)),

  endpoint({
    method: "post",
    path: "/api/system/prune",
    operationId: "pruneSystem",
    summary: "Prune unused resources",
    description:
      "Removes stopped containers, unused networks, dangling images and the build cache. With " +
      "`includeVolumes`, which also requires the permission `volumes:prune`, it removes all " +
      "volumes that no container uses, with their data. A failure of one kind does not stop the " +
      "others.",
    role: "admin",
    permission: "system:prune",
    body: z.object({ includeVolumes: z.boolean().default(false) })
      .meta({ id: "PruneOptions", example: { includeVolumes: false } }),
    returns: z.object({
      containers: Pruned,
      images: Pruned,
      networks: Pruned,
      volumes: Pruned,
      buildCache: Pruned,
      totalReclaimed: bytes,
    }).meta({ id: "PruneResult" }),
    failures: { 409: "The engine refuses, e.g. because a prune is under way already", ...AWAY },
  }, ({ body, caller }) => {
    if (body.includeVolumes) assertMayDo(caller, "admin", "volumes:prune");
    return pruneSystem(deps, body);
  }),
];
