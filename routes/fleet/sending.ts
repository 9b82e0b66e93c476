/** POST /api/backup/snapshots/:id/send: a snapshot goes to a host of this hub. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { startSend } from "../../services/fleet/sending/start.ts";
import { SNAPSHOT_FAILURES, SnapshotParams, TargetName } from "../backup/shapes.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";

const Host = z.string().min(1).max(100);

export const sendingEndpoints = (deps: Deps) => [
  endpoint("POST /api/backup/snapshots/:id/send", {
    operationId: "sendBackupSnapshot",
    summary: "Send a snapshot",
    description: "Starts a job that sends a snapshot over the link to a host of this server's " +
      "fleet, which stores it at a target of its own and restores it: a stack as a new one, " +
      "which is judged as after a restore, or volumes as new ones. Nothing here changes. The " +
      "host must allow it (`FLEET_ALLOW=admin`). No password of a repository is sent.",
    role: "admin",
    permission: "backup:write",
    params: SnapshotParams,
    body: z.object({
      host: Host.meta({ description: "Id or name of the host", example: "edge-7" }),
      from: Host.optional().meta({
        description: "Id or name of the host that has the snapshot; default: this server",
      }),
      target: TargetName.optional(),
      hostTarget: TargetName.optional().meta({
        description: "Id or name of a target at the host; default: its default one",
      }),
      restore: z.boolean().default(true).meta({ description: "Whether the host restores it, too" }),
      as: z.string().min(1).max(200).optional().meta({
        description: "Name of the restored stack or volume; default: as of a restore",
      }),
    }).meta({ id: "BackupSendRequest", example: { host: "edge-7" } }),
    returns: Job,
    status: 202,
    failures: {
      ...SNAPSHOT_FAILURES,
      404: "The snapshot, the target or the host does not exist",
      409: "There is nothing to restore, the host takes no snapshots, or the same snapshot is " +
        "being sent to it",
      503: "The host is away or does not answer",
    },
  }, ({ params, body, caller, requestId, note }) => {
    note.targets = [params.id, body.host];
    return startSend(deps, { caller, requestId }, params.id, body);
  }),
];
