/** /api/backup and /api/backup/own: the databases, keys and license as a file, and at targets. @module */

import * as z from "zod";
import { openBackupDownload } from "../../services/backup/download.ts";
import type { Deps } from "../../services/deps.ts";
import { openOwnBackup } from "../../services/snapshots/own/read.ts";
import { startOwnBackup } from "../../services/snapshots/own/start.ts";
import { attachment } from "../contract/attachment.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { Note, SNAPSHOT_FAILURES, SnapshotParams, TargetName, TargetQuery } from "./shapes.ts";

/** E.g. `longshore-2026-11-28T020000Z.backup`. */
function archiveResponse(
  { time, size, body }: { time: Date; size: number; body: ReadableStream<Uint8Array> },
): Response {
  const name = `longshore-${time.toISOString().replace(/:|\.\d+/g, "")}.backup`;
  return new Response(body, {
    headers: {
      "content-type": "application/x-tar",
      "content-length": String(size),
      "content-disposition": attachment(name),
    },
  });
}

export const backupEndpoints = (deps: Deps) => [
  rawEndpoint("POST /api/backup", {
    operationId: "downloadBackup",
    summary: "Download a backup",
    description: "The archive that `longshore backup` writes and `longshore restore` reads. It " +
      "contains the keys that decrypt stored secrets and sign access tokens: keep it as secret as " +
      "the data directory. Requires the built-in role admin. One download at a time.",
    role: "admin",
    loginOnly: true,
    returns: z.string().meta({ format: "binary" }),
    produces: "application/x-tar",
    replyHeaders: { "Content-Disposition": "Suggests a file name" },
    failures: {
      409: "A backup is already being downloaded",
      503: "The state database cannot be copied",
    },
  }, async () => {
    const { createdAt, size, body } = await openBackupDownload(deps);
    return archiveResponse({ time: createdAt, size, body });
  }),

  endpoint("POST /api/backup/own", {
    operationId: "backUpLongshore",
    summary: "Back up Longshore to a target",
    description: "Stores the same archive as a snapshot. Everybody who knows the password of the " +
      "target's repository can read the keys in it. Requires the built-in role admin.",
    role: "admin",
    loginOnly: true,
    body: z.object({
      target: TargetName.meta({ description: "Id or name of a target; the default may change" }),
      note: Note.optional(),
    }).meta({ id: "OwnBackupRequest", example: { target: "NAS", note: "before the move" } }),
    returns: Job,
    status: 202,
    failures: {
      404: "The target does not exist",
      409: "A backup is already in progress",
      502: "The target fails",
    },
  }, ({ body, caller }) => startOwnBackup(deps, caller, body)),

  rawEndpoint("POST /api/backup/own/:id/download", {
    operationId: "downloadOwnBackup",
    summary: "Download a backup of Longshore",
    description:
      "The archive in a snapshot, which `longshore restore` reads; also one of another " +
      "installation. " +
      "Requires the built-in role admin.",
    role: "admin",
    loginOnly: true,
    params: SnapshotParams,
    query: TargetQuery,
    returns: z.string().meta({ format: "binary" }),
    produces: "application/x-tar",
    replyHeaders: { "Content-Disposition": "Suggests a file name" },
    failures: SNAPSHOT_FAILURES,
  }, async ({ params, query, request, caller, note }) => {
    note.targets = [params.id];
    const found = await openOwnBackup(deps, caller, params.id, query, request.signal);
    return archiveResponse({ ...found, time: new Date(found.time) });
  }),
];
