/** Restores from snapshots, and the plan of one. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { InputError } from "../../services/errors.ts";
import { startRestore } from "../../services/snapshots/restore/start.ts";
import { startStackRestore, viewStackRestore } from "../../services/snapshots/stack/start.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import {
  SNAPSHOT_FAILURES,
  SnapshotParams,
  SnapshotPath,
  TargetName,
  TargetQuery,
} from "./shapes.ts";

const StackRestorePlan = z.object({
  stack: z.string().meta({ description: "Name that the stack gets" }),
  services: z.array(z.object({
    name: z.string(),
    action: z.enum(["create", "recreate", "start", "remove", "none"]),
  })),
  volumes: z.array(z.object({ name: z.string(), action: z.enum(["create", "replace"]) })),
  directories: z.array(z.object({
    path: z.string().meta({ description: "On the host" }),
    action: z.enum(["create", "replace"]),
  })),
  networks: z.array(z.string()).meta({ description: "Those that are created" }),
  images: z.array(z.object({
    name: z.string(),
    from: z.enum(["host", "snapshot", "registry"]).meta({
      description: "host: the engine has the image of the snapshot",
    }),
  })),
  directory: z.string().nullable().meta({
    description: "Of the sources on the host; null for those that Longshore stores",
  }),
  isGenerated: z.boolean().meta({
    description: "Whether the sources were written from the containers",
  }),
  stops: z.array(z.string()).meta({ description: "Running containers that are stopped" }),
  room: z.object({
    needed: z.number().nullable().meta({ description: "Bytes; null if unknown" }),
    free: z.number().nullable().meta({ description: "Bytes; null where it cannot be seen" }),
  }).meta({ description: "On the disk of the engine" }),
  warnings: z.array(z.string()),
}).meta({ id: "BackupStackRestorePlan" });

/** @throws {InputError} For fields that a whole stack does not have. */
function stackRequest(
  { paths, as, ...body }: {
    paths?: string[] | undefined;
    as?: string | undefined;
    to: "new" | "replace";
    target?: string | undefined;
    stableSeconds?: number | undefined;
  },
) {
  if (paths) throw new InputError([{ path: "body.paths", message: "is not for a whole stack" }]);
  const name = StackName.optional().safeParse(as);
  if (name.success) return { ...body, as: name.data };
  throw new InputError([{ path: "body.as", message: name.error.issues[0]!.message }]);
}

export const restoreEndpoints = (deps: Deps) => [
  endpoint(
    "POST /api/backup/snapshots/:id/restore",
    {
      operationId: "restoreBackupSnapshot",
      summary: "Restore from a snapshot",
      description: "Starts a job. Into new volumes unless `to` is `replace`: then the containers " +
        "that use what is replaced are stopped, what is there is kept as a snapshot of its own, " +
        "and the containers are started and judged; if they fail, what was there comes back. " +
        "`what: stack` brings a whole stack back: sources, images, networks, volumes and " +
        "directories, then a deploy that judges its containers; if that fails, nothing of a new " +
        "stack stays.",
      role: "admin",
      permission: "backup:write",
      destructive: true,
      params: SnapshotParams,
      body: z.object({
        target: TargetName.optional(),
        what: z.enum(["volume", "file", "stack"]),
        paths: z.array(SnapshotPath).min(1).max(100).optional().meta({
          description: "Volumes, directories below `STACK_ROOTS` or files of the snapshot; " +
            "default: all volumes. Not for a whole stack",
        }),
        to: z.enum(["new", "replace"]).default("new"),
        stableSeconds: z.int().min(1).max(3_600).optional().meta({
          description:
            "Time for which the containers must stay up; default 10, or as their health " +
            "checks say",
        }),
        as: z.string().min(1).max(200).optional().meta({
          description: "Name of the new volume or stack; default for a volume: the old name with " +
            "`-restored` and a number if that exists, for a stack: the old name",
        }),
      }).meta({
        id: "BackupRestoreRequest",
        example: { what: "volume", paths: ["/volumes/shop_data"], to: "replace" },
      }),
      returns: Job,
      status: 202,
      failures: {
        ...SNAPSHOT_FAILURES,
        404: "The snapshot, a path in it or the target does not exist",
        409: "A name is in use, the volumes cannot be emptied, the engine's disk has too little " +
          "room, or an action is in progress",
        ...ENGINE_FAILURES,
      },
    },
    ({ params, body: { what, ...body }, caller }) =>
      what === "stack"
        ? startStackRestore(deps, caller, params.id, stackRequest(body))
        : startRestore(deps, caller, params.id, { what, ...body }),
  ),

  endpoint(
    "GET /api/backup/snapshots/:id/restore-plan",
    {
      operationId: "planBackupStackRestore",
      summary: "Plan a stack restore",
      description: "Says what a restore of the whole stack would do. Changes nothing.",
      role: "admin",
      permission: "files:read",
      params: SnapshotParams,
      query: TargetQuery.extend({
        to: z.enum(["new", "replace"]).default("new"),
        as: StackName.optional(),
      }),
      returns: StackRestorePlan,
      failures: {
        ...SNAPSHOT_FAILURES,
        404: "The snapshot, the target, or the stack that would be replaced does not exist",
        409: "The snapshot has no stack, a name or directory is in use, or this host cannot run it",
        ...ENGINE_FAILURES,
      },
    },
    ({ params, query, caller }) =>
      deps.limiters.snapshotReads(caller, () => viewStackRestore(deps, params.id, query)),
  ),
];
