/** The job that backs Longshore itself up to a target. @module */

import type { Deps } from "../../deps.ts";
import { failInterrupted, type NamedJobKind } from "../../jobs/kind.ts";
import { OWN_SUBJECT } from "./content.ts";
import type { OwnBackupInput, OwnBackupResult } from "./job.ts";

export const ownBackupKind: NamedJobKind<OwnBackupInput, OwnBackupResult> = {
  id: "backup.own",
  group: "Backups",
  title: "Backup of Longshore",
  running: "Backing up {target}",
  steps: { read: "Copy the databases and store them" },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  run: async (deps: Deps, job) => await (await import("./take.ts")).takeOwnBackup(deps, job),
  // The next one reuses what an incomplete one has stored.
  recover: failInterrupted,
  endEvent: ({ id: jobId, target: backup, input, status, error, result }) => {
    const { place } = input as OwnBackupInput;
    const data = { backup, subject: OWN_SUBJECT, place, jobId };
    if (status === "succeeded") {
      const { snapshot, size } = result as OwnBackupResult;
      return { event: "backup.succeeded", data: { ...data, snapshot, size, downtimeMs: 0 } };
    }
    if (status === "cancelled") return undefined;
    return { event: "backup.failed", data: { ...data, reason: error } };
  },
};
