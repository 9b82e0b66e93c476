/** Files in snapshots: lists, downloads and differences. @module */

import * as z from "zod";
import type { Holder } from "../../services/access/shares.ts";
import type { Deps } from "../../services/deps.ts";
import { diffSnapshots, listFiles, openFile } from "../../services/snapshots/browse.ts";
import { attachment } from "../contract/attachment.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { Timestamp } from "../contract/shapes.ts";
import {
  SNAPSHOT_FAILURES,
  SnapshotId,
  SnapshotParams,
  SnapshotPath,
  TargetQuery,
} from "./shapes.ts";

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

export const snapshotFileEndpoints = (deps: Deps) => {
  const read = <Result>(caller: Holder, work: () => Promise<Result>) =>
    deps.limiters.snapshotReads(caller, work);

  return [
    endpoint("GET /api/backup/snapshots/:id/files", {
      operationId: "listBackupFiles",
      summary: "List files of a snapshot",
      description: "In byte order of their names, at most 5,000.",
      role: "admin",
      permission: "files:read",
      audited: true,
      params: SnapshotParams,
      query: TargetQuery.extend({ path: SnapshotPath.default("/") }),
      returns: z.object({ files: z.array(File), truncated: z.boolean() })
        .meta({ id: "BackupFileList" }),
      failures: SNAPSHOT_FAILURES,
    }, ({ params, query, caller }) => read(caller, () => listFiles(deps, params.id, query))),

    rawEndpoint("GET /api/backup/snapshots/:id/file", {
      operationId: "downloadBackupFile",
      summary: "Download a file of a snapshot",
      role: "admin",
      permission: "files:read",
      audited: true,
      acceptsTicket: true,
      params: SnapshotParams,
      query: TargetQuery.extend({ path: SnapshotPath }),
      returns: z.string().meta({ format: "binary" }),
      produces: "application/octet-stream",
      replyHeaders: { "Content-Disposition": "Suggests a file name" },
      failures: SNAPSHOT_FAILURES,
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
        params: SnapshotParams.extend({ other: SnapshotId }),
        query: TargetQuery,
        returns: z.object({
          changes: z.array(z.object({
            path: z.string(),
            change: z.enum(["added", "removed", "content", "metadata"]),
          })),
          truncated: z.boolean(),
        }).meta({ id: "BackupDiff" }),
        failures: SNAPSHOT_FAILURES,
      },
      ({ params, query, caller }) =>
        read(caller, () => diffSnapshots(deps, params.id, params.other, query)),
    ),
  ];
};
