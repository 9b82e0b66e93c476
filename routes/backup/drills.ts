/** /api/backup/drills: restores that are tried out. @module */

import * as z from "zod";
import { includesStack } from "../../services/access/scope.ts";
import type { Deps } from "../../services/deps.ts";
import { notFound } from "../../services/errors.ts";
import { listDrills } from "../../services/snapshots/drills/list.ts";
import { startDrill } from "../../services/snapshots/drills/start.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { ENGINE_FAILURES, queryBoolean, Timestamp } from "../contract/shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import { SnapshotId, TargetName } from "./shapes.ts";

const Drill = z.object({
  id: z.string().meta({ description: "Of its job" }),
  stack: z.string(),
  snapshot: z.string(),
  target: z.string().meta({ description: "Name of the target that had the snapshot" }),
  ok: z.boolean().meta({ description: "Whether the containers worked on what was restored" }),
  reason: z.string().meta({ description: "The verdict, or what failed" }),
  durationMs: z.int(),
  at: Timestamp.meta({ description: "End of the drill" }),
}).meta({ id: "BackupDrill" });

export const drillEndpoints = (deps: Deps) => [
  endpoint("POST /api/backup/drills", {
    operationId: "startBackupDrill",
    scope: "filtered",
    summary: "Try out a restore",
    description: "Starts a job: it restores a snapshot of a stack into new volumes, starts its " +
      "containers on them in a private network without access to the outside and without " +
      "published ports, judges them as an update does, and removes everything again. The stack " +
      "itself is neither stopped nor changed. Nothing of the host is mounted.",
    role: "operator",
    permission: "backup:run",
    body: z.object({
      stack: StackName,
      snapshot: SnapshotId.optional().meta({
        description: "Default: the newest one of the stack, of this host if it has made any",
      }),
      target: TargetName.optional(),
      stableSeconds: z.int().min(1).max(3_600).optional().meta({
        description:
          "Time for which the containers must stay up; default 10, or as their health checks say",
      }),
    }).meta({ id: "BackupDrillRequest", example: { stack: "shop" } }),
    returns: Job,
    status: 202,
    failures: {
      404: "The stack has no snapshot, or the target does not exist",
      409: "Another job works on the stack, or the target cannot be used",
      ...ENGINE_FAILURES,
      502: "The target or the container engine does not answer",
    },
  }, ({ body, caller, note }) => {
    note.targets = [body.stack];
    if (!includesStack(caller.scope, body.stack)) throw notFound("Stack", body.stack);
    return deps.limiters.snapshotReads(caller, () => startDrill(deps, body, caller));
  }),

  endpoint("GET /api/backup/drills", {
    operationId: "listBackupDrills",
    scope: "filtered",
    summary: "List drills",
    description: "Newest first; the last 20 of each stack are kept.",
    role: "viewer",
    permission: "backup:read",
    query: z.object({
      stack: StackName.optional(),
      latest: queryBoolean({
        fallback: false,
        description: "Only the newest one of each stack",
      }),
    }),
    returns: z.object({ drills: z.array(Drill) }).meta({ id: "BackupDrillList" }),
  }, ({ query, caller }) => ({ drills: listDrills(deps, caller.scope, query) })),
];
