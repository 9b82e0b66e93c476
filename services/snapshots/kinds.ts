/** The job that makes a snapshot. @module */

import type { Deps } from "../deps.ts";
import { reserveUsed } from "../containers/reservations.ts";
import type { NamedJobKind } from "../jobs/kind.ts";
import { operationOf, type SnapshotInput, type SnapshotJob, type SnapshotResult } from "./job.ts";
import { backupSubject, recordBackup } from "./last_backups.ts";

export const snapshotKind: NamedJobKind<SnapshotInput, SnapshotResult> = {
  id: "backup.snapshot",
  group: "Backups",
  title: "Backup",
  running: "Backing up {target}",
  steps: {
    plan: "Plan",
    hold: "Stop or pause containers",
    read: "Read and store",
    release: "Start containers",
  },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "operator",
  permission: "backup:run",
  reserve({ reservations }, { target, input: { affected, read = [] } }) {
    const [first, ...others] = affected;
    using reserved = new DisposableStack();
    reserved.use(
      reservations.reserve(first ?? { id: target, name: target }, "backed up", {
        affected: others,
        operation: operationOf("backup.snapshot", target),
      }),
    );
    reserved.use(reserveUsed(reservations, read, "backed up"));
    return reserved.move();
  },
  run,
  recover,
  outlivesEngine: true,
  endEvent: ({ id: jobId, target: backup, input, status, error, result }) => {
    const of = input as SnapshotInput;
    const data = { backup, subject: backupSubject(of), place: of.place, jobId };
    if (status === "succeeded") {
      const { snapshot, size, downtimeMs } = result as SnapshotResult;
      return { event: "backup.succeeded", data: { ...data, snapshot, size, downtimeMs } };
    }
    if (status === "cancelled") return undefined;
    return { event: "backup.failed", data: { ...data, reason: error } };
  },
};

async function run(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  const result = await (await import("./take.ts")).takeSnapshot(deps, job);
  recordBackup(deps, job, result);
  return result;
}

async function recover(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  const result = await (await import("./take.ts")).recoverSnapshot(deps, job);
  recordBackup(deps, job, result);
  return result;
}
