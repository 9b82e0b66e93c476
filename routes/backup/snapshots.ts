/** /api/backup/snapshots: snapshots of stacks and volumes, and what is in them. @module */

import * as z from "zod";
import type { Holder } from "../../services/access/shares.ts";
import type { Deps } from "../../services/deps.ts";
import { deleteSnapshot, getSnapshot, listSnapshots } from "../../services/snapshots/list.ts";
import { diffSnapshots, listFiles, openFile } from "../../services/snapshots/browse.ts";
import { startRestore } from "../../services/snapshots/restore/start.ts";
import { startStackRestore, viewStackRestore } from "../../services/snapshots/stack/start.ts";
import { readEstimate, startSnapshot } from "../../services/snapshots/start.ts";
import { InputError } from "../../services/errors.ts";
import { attachment } from "../contract/attachment.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { Done, ENGINE_FAILURES, queryBoolean, Timestamp } from "../contract/shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import { IncludeSharedUsers, Mode, SnapshotId, TargetName, VolumeName, Volumes } from "./shapes.ts";

const Snapshot = z.object({
  id: z.string().meta({ description: "Of restic: 64 hexadecimal digits" }),
  time: Timestamp,
  hostname: z.string(),
  isOwn: z.boolean().meta({ description: "Whether this host made it" }),
  stack: z.string().nullable(),
  volumes: z.array(z.string()),
  directories: z.array(z.string()).meta({ description: "Of the host" }),
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

const File = z.object({
  name: z.string().meta({ description: "Bytes that are not UTF-8 are replaced" }),
  path: z.string().meta({
    description: "For further requests",
    example: "/volumes/shop_data/app.db",
  }),
  type: z.enum(["file", "dir", "symlink", "fifo", "socket", "dev", "chardev"]),
  size: z.number().meta({ description: "In bytes" }),
  mode: z.string().meta({ example: "0644" }),
  uid: z.int(),
  gid: z.int(),
  modifiedAt: Timestamp,
  linkTarget: z.string().nullable(),
});

const Params = z.object({ id: SnapshotId });
const TargetQuery = z.object({ target: TargetName.optional() });
const FilePath = z.string().min(1).max(8_192).startsWith("/").meta({
  description: "In the snapshot, as lists of files give it",
  example: "/volumes/shop_data/app.db",
});

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
  warnings: z.array(z.string()),
}).meta({ id: "BackupStackRestorePlan" });

const FAILURES = {
  404: "The snapshot or the target does not exist",
  409: "The target cannot be used, or the snapshot is damaged",
  502: "The target does not answer",
} as const;

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
        note: z.string().max(200).optional(),
        withImages: z.boolean().default(false).meta({
          description: "Whether to store the images of a stack's containers as well, for a host " +
            "without their registry",
        }),
        keepStopped: z.boolean().default(false).meta({
          description:
            "Whether all containers of the stack stay stopped after a success, because " +
            "the stack moves to another host; the mode is `stop`",
        }),
        includeSharedUsers: IncludeSharedUsers.default(false),
      }).meta({ id: "BackupRequest", example: { stack: "shop", note: "before the move" } }),
      returns: Job,
      status: 202,
      failures: {
        404: "The stack, a volume or the target does not exist",
        409:
          "There is nothing to back up, the target has too little room, other containers use a " +
          "volume, or an action is in progress",
        ...ENGINE_FAILURES,
      },
    }, ({ body, caller, note }) => {
      note.targets = body.stack === undefined ? body.volumes ?? [] : [body.stack];
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
      failures: FAILURES,
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
      params: Params,
      query: TargetQuery,
      returns: Snapshot,
      failures: FAILURES,
    }, ({ params, query, caller }) => read(caller, () => getSnapshot(deps, params.id, query))),

    endpoint("DELETE /api/backup/snapshots/:id", {
      operationId: "deleteBackupSnapshot",
      summary: "Delete a snapshot",
      description: "Of this host only. Its data stays at the target until it is pruned.",
      role: "admin",
      permission: "backup:write",
      params: Params,
      query: TargetQuery,
      returns: Done,
      failures: { 403: "Another host has made it", ...FAILURES },
    }, ({ params, query, caller }) => read(caller, () => deleteSnapshot(deps, params.id, query))),

    endpoint("GET /api/backup/snapshots/:id/files", {
      operationId: "listBackupFiles",
      summary: "List files of a snapshot",
      description: "In byte order of their names, at most 5,000.",
      role: "admin",
      permission: "files:read",
      audited: true,
      params: Params,
      query: TargetQuery.extend({ path: FilePath.default("/") }),
      returns: z.object({ files: z.array(File), truncated: z.boolean() })
        .meta({ id: "BackupFileList" }),
      failures: FAILURES,
    }, ({ params, query, caller }) => read(caller, () => listFiles(deps, params.id, query))),

    rawEndpoint("GET /api/backup/snapshots/:id/file", {
      operationId: "downloadBackupFile",
      summary: "Download a file of a snapshot",
      role: "admin",
      permission: "files:read",
      audited: true,
      acceptsTicket: true,
      params: Params,
      query: TargetQuery.extend({ path: FilePath }),
      returns: z.string().meta({ format: "binary" }),
      produces: "application/octet-stream",
      replyHeaders: { "Content-Disposition": "Suggests a file name" },
      failures: FAILURES,
    }, async ({ params, query, request, caller, note }) => {
      note.targets = [params.id, query.path];
      const file = await openFile(deps, caller, params.id, query, request.signal);
      const { name, size, body } = file;
      return new Response(body, {
        headers: {
          "content-type": "application/octet-stream",
          "content-length": String(size),
          "content-disposition": attachment(name),
        },
      });
    }),

    endpoint(
      "GET /api/backup/snapshots/:id/diff/:other",
      {
        operationId: "diffBackupSnapshots",
        summary: "Compare two snapshots",
        description: "Lists at most 5,000 paths.",
        role: "admin",
        permission: "files:read",
        audited: true,
        params: Params.extend({ other: SnapshotId }),
        query: TargetQuery,
        returns: z.object({
          changes: z.array(z.object({
            path: z.string(),
            change: z.enum(["added", "removed", "content", "metadata"]),
          })),
          truncated: z.boolean(),
        }).meta({ id: "BackupDiff" }),
        failures: FAILURES,
      },
      ({ params, query, caller }) =>
        read(caller, () => diffSnapshots(deps, params.id, params.other, query)),
    ),

    endpoint(
      "POST /api/backup/snapshots/:id/restore",
      {
        operationId: "restoreBackupSnapshot",
        summary: "Restore from a snapshot",
        description:
          "Starts a job. Into new volumes unless `to` is `replace`: then the containers " +
          "that use what is replaced are stopped, what is there is kept as a snapshot of its own, " +
          "and the containers are started and judged; if they fail, what was there comes back. " +
          "`what: stack` brings a whole stack back: sources, images, networks, volumes and " +
          "directories, then a deploy that judges its containers; if that fails, nothing of a new " +
          "stack stays.",
        role: "admin",
        permission: "backup:write",
        destructive: true,
        params: Params,
        body: z.object({
          target: TargetName.optional(),
          what: z.enum(["volume", "file", "stack"]),
          paths: z.array(FilePath).min(1).max(100).optional().meta({
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
            description:
              "Name of the new volume or stack; default for a volume: the old name with " +
              "`-restored`, for a stack: the old name",
          }),
        }).meta({
          id: "BackupRestoreRequest",
          example: { what: "volume", paths: ["/volumes/shop_data"], to: "replace" },
        }),
        returns: Job,
        status: 202,
        failures: {
          ...FAILURES,
          404: "The snapshot, a path in it or the target does not exist",
          409: "A name is in use, the volumes cannot be emptied, or an action is in progress",
          ...ENGINE_FAILURES,
        },
      },
      ({ params, body: { what, ...body }, caller }) =>
        what === "stack"
          ? startStackRestore(deps, caller, params.id, stackRequest(body))
          : startRestore(deps, caller, params.id, { what, ...body }),
    ),

    endpoint("GET /api/backup/snapshots/:id/restore-plan", {
      operationId: "planBackupStackRestore",
      summary: "Plan a stack restore",
      description: "Says what a restore of the whole stack would do. Changes nothing.",
      role: "admin",
      permission: "files:read",
      params: Params,
      query: TargetQuery.extend({
        to: z.enum(["new", "replace"]).default("new"),
        as: StackName.optional(),
      }),
      returns: StackRestorePlan,
      failures: {
        ...FAILURES,
        404: "The snapshot, the target, or the stack that would be replaced does not exist",
        409: "The snapshot has no stack, a name or directory is in use, or this host cannot run it",
        ...ENGINE_FAILURES,
      },
    }, ({ params, query, caller }) => read(caller, () => viewStackRestore(deps, params.id, query))),
  ];
};
