/** Jobs on the repositories of /api/backup/targets. @module */

import * as z from "zod";
import {
  checkKind,
  forgetKind,
  pruneKind,
  startTargetJob,
  unlockKind,
} from "../../services/backup/targets/jobs.ts";
import { definedFields } from "../../services/change.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Job } from "../contract/job.ts";
import { MaxUnusedPercent, Rules, rulesOf } from "./shapes.ts";

const CheckBody = z.object({
  readDataSubset: z.string().regex(/^[1-9]\d{0,3}\/[1-9]\d{0,3}$/, {
    error: "must be like 1/10",
    abort: true,
  })
    .refine((text) => partOf(text).part <= partOf(text).of, {
      error: "must not have a part after the last one",
    }).optional().meta({
      description: "Reads the packs of one of several equal parts, as with restic's option of " +
        "this name; `1/1` reads all. Without it, none are read",
      example: "1/10",
    }),
}).meta({ id: "BackupTargetCheck", example: { readDataSubset: "1/10" } });

const PruneBody = z.object({
  maxUnusedPercent: MaxUnusedPercent.optional(),
  dryRun: z.boolean().default(false).meta({ description: "Counts only" }),
}).meta({ id: "BackupTargetPrune", example: { maxUnusedPercent: 5 } });

const UnlockBody = z.object({
  all: z.boolean().default(false).meta({
    description: "Also locks that are in use; only when no other program uses the repository",
  }),
}).meta({ id: "BackupTargetUnlock", example: { all: false } });

const JOB_FAILURES = {
  404: "The target does not exist",
  409: "Another job uses the target, or there are too many jobs",
};

const WRITE = { role: "admin", permission: "backup:write" } as const;

export const backupTargetJobEndpoints = (deps: Deps) => [
  endpoint(
    "POST /api/backup/targets/:id/check",
    {
      operationId: "checkBackupTarget",
      summary: "Check a repository",
      description: "Starts a job that checks snapshots, index and packs. It fails if there are " +
        "problems; its result lists up to 100.",
      ...WRITE,
      body: CheckBody,
      returns: Job,
      status: 202,
      failures: JOB_FAILURES,
    },
    ({ params, body: { readDataSubset: subset }, caller }) =>
      startTargetJob(
        deps,
        caller,
        checkKind,
        params.id,
        subset === undefined ? null : partOf(subset),
      ),
  ),

  endpoint(
    "POST /api/backup/targets/:id/forget",
    {
      operationId: "forgetBackupSnapshots",
      summary: "Forget old snapshots",
      description: "Starts a job that removes snapshots of this host that no rule keeps. Their " +
        "data stay until the repository is pruned. Snapshots of updates stay.",
      ...WRITE,
      destructive: true,
      body: Rules,
      returns: Job,
      status: 202,
      failures: JOB_FAILURES,
    },
    ({ params, body, caller }) =>
      startTargetJob(deps, caller, forgetKind, params.id, rulesOf(body)),
  ),

  endpoint(
    "POST /api/backup/targets/:id/prune",
    {
      operationId: "pruneBackupTarget",
      summary: "Prune a repository",
      description: "Starts a job that removes data that no snapshot needs, also of other hosts. " +
        "It excludes all backups meanwhile.",
      ...WRITE,
      destructive: true,
      body: PruneBody,
      returns: Job,
      status: 202,
      failures: JOB_FAILURES,
    },
    ({ params, body: { dryRun: isDryRun, ...body }, caller }) =>
      startTargetJob(deps, caller, pruneKind, params.id, { ...definedFields(body), isDryRun }),
  ),

  endpoint("POST /api/backup/targets/:id/unlock", {
    operationId: "unlockBackupTarget",
    summary: "Remove stale locks",
    description: "Starts a job that removes locks of programs that have ended.",
    ...WRITE,
    body: UnlockBody,
    returns: Job,
    status: 202,
    failures: JOB_FAILURES,
  }, ({ params, body, caller }) => startTargetJob(deps, caller, unlockKind, params.id, body)),
];

/** E.g. `1/10`. */
function partOf(subset: string): { part: number; of: number } {
  const [part, of] = subset.split("/").map(Number) as [number, number];
  return { part, of };
}
