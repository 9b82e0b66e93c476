/** /api/volumes: list, create, delete. @module */

import * as z from "zod";
import { createVolume, listVolumes, removeVolume } from "../services/storage/volumes.ts";
import { visibleTo } from "../services/containers/visible.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { VolumeParams } from "./storage_shapes.ts";
import {
  ENGINE_FAILURES,
  EngineDriver,
  EngineName,
  EnginePairs,
  Timestamp,
  Warning,
} from "./contract/shapes.ts";

const Volume = z.object({
  name: z.string(),
  driver: z.string(),
  mountpoint: z.string().meta({ description: "Path on the host" }),
  scope: z.string().meta({ description: "local or global" }),
  createdAt: Timestamp.nullable(),
  labels: z.record(z.string(), z.string()),
  size: z.int().nullable().meta({
    description: "Bytes, from a GET /api/system/disk of the last hour; null without one",
  }),
  containers: z.array(z.string()).meta({
    description: "Names of the containers that mount it, in any state",
  }),
  warning: Warning,
}).meta({ id: "Volume" });

const NewVolume = z.object({
  name: EngineName,
  driver: EngineDriver.default("local"),
  options: EnginePairs.default({}).meta({
    description: "Options of the driver, e.g. of a mount. They are not listed, because they may " +
      "contain passwords",
    example: { type: "nfs", o: "addr=10.0.0.5,rw", device: ":/export/data" },
  }),
  labels: EnginePairs.default({}),
}).meta({ id: "NewVolume", example: { name: "shop_data", labels: { backup: "daily" } } });

export const volumeEndpoints = (deps: Deps) => [
  endpoint("GET /api/volumes", {
    operationId: "listVolumes",
    scope: "filtered",
    summary: "List volumes",
    description: "Sorted by name, with the containers that mount them.",
    role: "viewer",
    permission: "volumes:read",
    returns: z.object({ volumes: z.array(Volume) }).meta({ id: "VolumeList" }),
    failures: ENGINE_FAILURES,
    etag: true,
  }, async ({ caller }) => ({ volumes: await listVolumes(visibleTo(deps, caller)) })),

  endpoint("POST /api/volumes", {
    operationId: "createVolume",
    summary: "Create a volume",
    description: "Options of the local driver can mount any folder of the host that `BIND_ALLOW` " +
      "does not exclude: grant the permission `volumes:write` with the same care as the role admin.",
    role: "admin",
    permission: "volumes:write",
    body: NewVolume,
    returns: Volume,
    status: 201,
    failures: { 409: "The name is in use, or the engine refuses", ...ENGINE_FAILURES },
  }, ({ body }) => createVolume(deps, body)),

  endpoint("DELETE /api/volumes/:name", {
    operationId: "deleteVolume",
    summary: "Delete a volume",
    description: "Deletes all data in the volume.",
    role: "admin",
    permission: "volumes:delete",
    params: VolumeParams,
    returns: z.object({ ok: z.literal(true), name: z.string().meta({ example: "shop_data" }) })
      .meta({ id: "VolumeDeletion" }),
    failures: {
      404: "The volume does not exist",
      409: "A container uses it, even if it is stopped",
      ...ENGINE_FAILURES,
    },
  }, ({ params }) => removeVolume(deps, params.name)),
];
