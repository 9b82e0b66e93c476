/** /api/system: engine information, disk usage and pruning. @module */

import * as z from "zod";
import { readDiskBreakdown } from "../../services/storage/disk_usage.ts";
import { describeEngine } from "../../services/metrics/host/engine_info.ts";
import { PRUNE_KINDS, prunedKinds, pruneSystem } from "../../services/images/prune.ts";
import { assertMayDo } from "../../services/access/caller.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";
import { NEEDS_INCLUDE_VOLUMES, pruneFields, saysVolumesTwice } from "./prune_shape.ts";

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

const PruneBody = z.object({
  dryRun: z.boolean().default(false).meta({
    description: "Remove nothing; the response lists what would be removed",
  }),
  ...pruneFields,
}).refine(saysVolumesTwice, NEEDS_INCLUDE_VOLUMES).meta({
  id: "PruneOptions",
  example: { dryRun: true, olderThanHours: 24 },
});

const Pruned = z.object({
  deleted: z.array(z.string()).meta({ description: "Ids or names", example: ["shop_old"] }),
  items: z.array(z.object({
    id: z.string(),
    name: z.string(),
    size: bytes.nullable().meta({ description: "Bytes; null if unknown to the engine" }),
  })),
  count: z.int().meta({ description: "Number of items" }),
  spaceReclaimed: bytes,
  error: z.string().nullable().meta({
    description: "Why some items of this kind were not removed",
  }),
}).meta({ id: "PrunedKind" });

export const systemEndpoints = (deps: Deps) => [
  endpoint("GET /api/system/docker", {
    operationId: "getEngine",
    summary: "Get engine information",
    description: "`diskUsage` is null when the engine does not compute it within a few seconds.",
    role: "viewer",
    permission: "system:read",
    returns: z.object({ info: EngineInfo, diskUsage: DiskBreakdown.nullable() }).meta({
      id: "Engine",
    }),
    failures: ENGINE_FAILURES,
  }, () => describeEngine(deps)),

  endpoint("GET /api/system/disk", {
    operationId: "getDiskUsage",
    summary: "Get engine disk usage",
    description:
      "Expensive for the engine, so results are cached for one minute. If the engine needs " +
      "longer than a minute, the last known result is returned.",
    role: "viewer",
    permission: "system:read",
    returns: DiskBreakdown,
    failures: { 503: "The container engine cannot be reached, or is still computing" },
  }, () => readDiskBreakdown(deps)),

  endpoint("POST /api/system/prune", {
    operationId: "pruneSystem",
    destructive: true,
    summary: "Prune unused resources",
    description: "Removes stopped containers, unused networks and images, the build cache, " +
      "and with `includeVolumes`, which also requires the permission `volumes:prune`, unused " +
      "volumes with their data. By default, items of the last hour and " +
      "images with a tag are kept. `dryRun` lists what would be removed; for the build cache the engine " +
      "decides when it prunes. A dry run has no audit log entry. Networks of a swarm are kept. A failure of one kind does not stop " +
      "the others.",
    role: "admin",
    permission: "system:prune",
    body: PruneBody,
    returns: z.object({
      dryRun: z.boolean(),
      containers: Pruned,
      images: Pruned,
      networks: Pruned,
      volumes: Pruned,
      buildCache: Pruned,
      totalReclaimed: bytes,
    }).meta({ id: "PruneResult" }),
    failures: {
      409: "The engine refuses, e.g. because a prune is in progress",
      ...ENGINE_FAILURES,
    },
  }, async ({ body, caller, note }) => {
    const { includeVolumes, ...options } = body;
    const kinds = prunedKinds(body);
    note.command = JSON.stringify({ ...options, kinds });
    if (includeVolumes) assertMayDo(caller, "admin", "volumes:prune");
    const report = await pruneSystem(deps, { ...options, kinds });
    if (report.dryRun) note.unaudited = true;
    note.targets = PRUNE_KINDS.flatMap((kind) => report[kind].deleted);
    return report;
  }),
];
