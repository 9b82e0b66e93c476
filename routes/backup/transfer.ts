/** Snapshots that go to another host, and those that come from one. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import { openArchive } from "../../services/snapshots/transfer/archive.ts";
import { ARCHIVE_TYPE } from "../../services/snapshots/transfer/format.ts";
import { receiveSnapshot } from "../../services/snapshots/transfer/receive.ts";
import { endpoint, rawEndpoint } from "../contract/endpoint.ts";
import { readUpload } from "../pipeline/upload.ts";
import {
  SNAPSHOT_FAILURES,
  SnapshotId,
  SnapshotParams,
  TargetName,
  TargetQuery,
} from "./shapes.ts";

/** Longest silence of the other host, in milliseconds: its target may be busy. */
const IDLE_MAX_MS = 30 * 60_000;

export const transferEndpoints = (deps: Deps) => [
  rawEndpoint("GET /api/backup/snapshots/:id/archive", {
    operationId: "downloadBackupSnapshot",
    summary: "Download a snapshot",
    description: "All of it as a tar archive: `snapshot.json` describes it, and `tree/` has its " +
      "files. `POST /api/backup/snapshots/receive` of another host stores it. Without sockets " +
      "and FIFOs.",
    role: "admin",
    permission: "files:read",
    audited: true,
    params: SnapshotParams,
    query: TargetQuery,
    returns: z.string().meta({ format: "binary" }),
    produces: ARCHIVE_TYPE,
    failures: {
      ...SNAPSHOT_FAILURES,
      403: "It has the service's own data",
      429: "The account or API token has its share of the downloads",
      503: "Too many downloads are running",
    },
  }, async ({ params, query, request, caller, note }) => {
    note.targets = [params.id];
    const { body } = await openArchive(deps, caller, params.id, query, request.signal);
    return new Response(body, { headers: { "content-type": ARCHIVE_TYPE } });
  }),

  endpoint("POST /api/backup/snapshots/receive", {
    operationId: "receiveBackupSnapshot",
    summary: "Receive a snapshot",
    description: "Stores the archive of another host's snapshot as a snapshot of this host, of " +
      "the time at which it arrives. One that does not arrive whole is not listed. It is also a job.",
    role: "admin",
    permission: "backup:write",
    upload: { types: [ARCHIVE_TYPE], bytesMax: () => Infinity },
    query: z.object({
      snapshot: SnapshotId.meta({ description: "Id at the other host" }),
      size: z.coerce.number().int().min(0).optional().meta({
        description: "Of its files, in bytes, for the room at the target",
      }),
      target: TargetName.optional(),
    }),
    returns: z.object({
      job: z.string().meta({ description: "Id of the job" }),
      snapshot: z.string().meta({ description: "Its id here" }),
      target: z.string().meta({ description: "Name of the target" }),
      files: z.number(),
      size: z.number().meta({ description: "Of its files, in bytes" }),
      added: z.number().meta({ description: "Stored at the target, in bytes" }),
      skippedCount: z.int().meta({ description: "Entries that could not be stored" }),
    }).meta({ id: "ReceivedBackupSnapshot" }),
    failures: {
      404: "The target does not exist",
      409: "The archive is damaged, the target has too little room, or the snapshot is arriving",
      502: "The target does not answer",
    },
  }, ({ query: { size = null, ...query }, request, caller, note, assertAllowed }) => {
    note.targets = [query.snapshot];
    const disconnected = new AbortController();
    const onDisconnect = () =>
      disconnected.abort(new AppError("conflict", "The client disconnected"));
    request.signal.addEventListener("abort", onDisconnect);
    const limits = { bytesMax: Infinity, assertAllowed, onDisconnect, idleMaxMs: IDLE_MAX_MS };
    return receiveSnapshot(deps, caller, { ...query, size }, {
      content: readUpload(request, limits),
      disconnected: disconnected.signal,
    });
  }),
];
