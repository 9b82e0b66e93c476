/** /api/backup/snapshots and /api/backup/estimate: backups of stacks and volumes. @module */

import * as z from "zod";
import { assertMayCause } from "../../services/access/caller.ts";
import type { Holder } from "../../services/access/shares.ts";
import type { Deps } from "../../services/deps.ts";
import { deleteSnapshot, getSnapshot, listSnapshots } from "../../services/snapshots/list.ts";
import { readEstimate, startSnapshot } from "../../services/snapshots/start.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { Done, ENGINE_FAILURES, queryBoolean, Timestamp } from "../contract/shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import {
  IncludeSharedUsers,
  Mode,
  Note,
  SNAPSHOT_FAILURES,
  SnapshotParams,
  TargetName,
  TargetQuery,
  VolumeName,
  Volumes,
} from "./shapes.ts";

const Snapshot = z.object({
  id: z.string().meta({ description: "Of restic: 64 hexadecimal digits" }),
  time: Timestamp,
  hostname: z.string(),
  isOwn: z.boolean().meta({ description: "Whether this host made it" }),
  stack: z.string().nullable(),
  lastBackupOf: z.array(z.string()).meta({
    description: "Stacks of this host whose last backup it is: made here, or at the host from " +
      "which a stack has moved here",
  }),
  hasStack: z.boolean().meta({
    description: "Whether it has the stack itself; what updates keep has volumes of it only",
  }),
  volumes: z.array(z.string()),
  directories: z.array(z.string()).meta({ description: "Of the host" }),
  hasLongshore: z.boolean().meta({ description: "Whether it is a backup of Longshore itself" }),
  reason: z.string().nullable().meta({
    description: "manual, schedule, update or undo; null for a snapshot of another program",
  }),
  note: z.string().nullable(),
  tags: z.array(z.string()),
  target: z.string().meta({ description: "Name of the target" }),
  size: z.int().nullable().meta({ description: "Of its files, in bytes; null if unknown" }),
}).meta({ id: "BackupSnapshot" });

const ReadTarget = z.object({
  name: z.string(),
  default: z.boolean(),
  error: z.string().nullable().meta({ description: "Reason why its snapshots are not listed" }),
});

export const snapshotEndpoints = (deps: Deps) => {
  const read = <Result>(caller: Holder, work: () => Promise<Result>) =>
    deps.limiters.snapshotReads(caller, work);

  return [
    endpoint("POST /api/backup/snapshots", {
      operationId: "createBackupSnapshot",
      summary: "Back up a stack or volumes",
      description: "Starts a job that stores a snapshot in a restic repository: volumes below " +
        "`/volumes`, directories below `STACK_ROOTS` in `/directories`, the sources, environment " +
        "and containers of a stack in `/stacks`. Containers that were stopped or paused continue " +
        "in any case.",
      role: "operator",
      permission: "backup:run",
      body: z.object({
        stack: StackName.optional().meta({ description: "Either a stack or volumes" }),
        volumes: Volumes.optional(),
        target: TargetName.optional(),
        mode: Mode.optional(),
        note: Note.optional(),
        withImages: z.boolean().default(false).meta({
          description: "Whether to store the images of a stack's containers as well, for a host " +
            "without their registry",
        }),
        keepStopped: z.boolean().default(false).meta({
          description:
            "Whether all containers of the stack stay stopped after a success, because " +
            "the stack moves to another host; the mode is `stop`. Requires `containers:stop`",
        }),
        includeSharedUsers: IncludeSharedUsers.default(false),
      }).meta({ id: "BackupRequest", example: { stack: "shop", note: "before the move" } }),
      returns: Job,
      status: 202,
      failures: {
        403: "`keepStopped` without the permission `containers:stop`",
        404: "The stack, a volume or the target does not exist",
        409:
          "There is nothing to back up, the target has too little room, other containers use a " +
          "volume, or an action is in progress",
        ...ENGINE_FAILURES,
      },
    }, ({ body, caller, note }) => {
      note.targets = body.stack === undefined ? body.volumes ?? [] : [body.stack];
      if (body.keepStopped) assertMayCause(caller, "stop");
      return startSnapshot(deps, caller, body);
    }),

    endpoint(
      "GET /api/backup/estimate",
      {
        operationId: "estimateBackup",
        summary: "Estimate a backup",
        description: "A backup is refused if the target has less room than may be added.",
        role: "viewer",
        permission: "backup:read",
        query: z.object({
          stack: StackName.optional().meta({ description: "Either a stack or a volume" }),
          volume: VolumeName.optional(),
          target: TargetName.optional(),
        }),
        returns: z.object({
          size: z.number().nullable().meta({
            description: "Bytes of its files, as the engine measures volumes, else of the last " +
              "backup; null if unknown",
          }),
          added: z.number().nullable().meta({
            description: "Bytes that may be added at the target, before compression",
          }),
          seconds: z.number().nullable().meta({ description: "By the speed of the last backup" }),
          room: z.number().nullable().meta({
            description: "Bytes left at the target; null where it does not say so",
          }),
          sqlite: z.array(z.string()).nullable().meta({
            description: "Volumes and directories in which the last backup has found SQLite " +
              "databases: with `hooks` and `live` their files may be of different moments. null " +
              "before the first backup",
            example: ["/volumes/shop_data"],
          }),
          mode: Mode.meta({ description: "Of a backup that names none" }),
          leftOut: z.array(z.string()).meta({
            description: "Mounted directories that are not below `STACK_ROOTS`, and Longshore's " +
              "own data: not included",
          }),
        }).meta({ id: "BackupEstimate" }),
        failures: {
          404: "The stack, the volume or the target does not exist",
          409: "There is nothing to back up, or no target is the default",
          ...ENGINE_FAILURES,
        },
      },
      ({ query: { volume, ...query }, caller }) =>
        read(
          caller,
          () =>
            readEstimate(deps, { ...query, volumes: volume === undefined ? undefined : [volume] }),
        ),
    ),

    endpoint("GET /api/backup/snapshots", {
      operationId: "listBackupSnapshots",
      summary: "List snapshots",
      description: "Newest first, also those of other hosts and programs in the same repository. " +
        "With `allTargets`, `targets` says which could not be read.",
      role: "viewer",
      permission: "backup:read",
      query: TargetQuery.extend({
        allTargets: queryBoolean({
          fallback: false,
          description: "Whether to list the snapshots of all targets, instead of one",
        }),
        stack: StackName.optional(),
        limit: z.coerce.number().int().min(1).max(1_000).default(200),
      }),
      returns: z.object({
        snapshots: z.array(Snapshot),
        total: z.int(),
        targets: z.array(ReadTarget).meta({ description: "Those that were read" }),
      }).meta({ id: "BackupSnapshotList" }),
      failures: SNAPSHOT_FAILURES,
    }, async ({ query, caller }) => {
      const { targets, ...list } = await read(caller, () => listSnapshots(deps, query));
      return {
        ...list,
        targets: targets.map(({ isDefault, ...target }) => ({ ...target, default: isDefault })),
      };
    }),

    endpoint("GET /api/backup/snapshots/:id", {
      operationId: "getBackupSnapshot",
      summary: "Get a snapshot",
      role: "viewer",
      permission: "backup:read",
      params: SnapshotParams,
      query: TargetQuery,
      returns: Snapshot,
      failures: SNAPSHOT_FAILURES,
    }, ({ params, query, caller }) => read(caller, () => getSnapshot(deps, params.id, query))),

    endpoint("DELETE /api/backup/snapshots/:id", {
      operationId: "deleteBackupSnapshot",
      summary: "Delete a snapshot",
      description: "Of this host only. Its data stays at the target until it is pruned.",
      role: "admin",
      permission: "backup:write",
      params: SnapshotParams,
      query: TargetQuery,
      returns: Done,
      failures: { 403: "Another host has made it", ...SNAPSHOT_FAILURES },
    }, ({ params, query, caller }) => read(caller, () => deleteSnapshot(deps, params.id, query))),
  ];
};
