/** The job that restores volumes and files from a snapshot. @module */

import type { Deps } from "../../deps.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { operationOf } from "../job.ts";
import type { RestoreInput, RestoreJob, RestoreResult } from "./job.ts";

export const restoreKind: NamedJobKind<RestoreInput, RestoreResult> = {
  id: "backup.restore",
  group: "Backups",
  title: "Restore",
  running: "Restoring {target}",
  isListed: true,
  steps: {
    plan: "Plan",
    check: "Read and check the snapshot",
    keep: "Stop containers and keep what is there",
    "keep again": "Keep what was written meanwhile",
    write: "Write",
    empty: "Begin the write",
    release: "Start containers",
    verify: "Verify the containers",
    failure: "Record the failure",
    "keep written": "Keep what was written since",
    "put back": "Put back what was there",
    "start again": "Start containers",
  },
  unit: "bytes",
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  reserve({ reservations }, { target, input: { affected, parts } }) {
    // Volumes are reserved as well, because they may have no users.
    const volumes = parts.map(({ to }) => ({ id: to.path, name: to.path }));
    const [first, ...others] = [...affected, ...volumes];
    return reservations.reserve(first!, "restored", {
      affected: others,
      operation: operationOf("backup.restore", target),
    });
  },
  run: restore,
  // Each step can be repeated, and the old bytes are kept before the first one is overwritten.
  recover: restore,
  outlivesEngine: true,
};

async function restore(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  return await (await import("./run.ts")).restoreParts(deps, job);
}
