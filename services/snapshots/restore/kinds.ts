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
    hold: "Stop containers",
    keep: "Keep what is there",
    write: "Write",
    release: "Start containers",
    verify: "Verify the containers",
    "stop again": "Stop containers",
    "put back": "Put back what was there",
    "start again": "Start containers",
  },
  unit: "bytes",
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  reserve: ({ reservations }, { target, input: { affected: [first, ...affected] } }) =>
    reservations.reserve(first ?? { id: target, name: target }, "restored", {
      affected,
      operation: operationOf(target),
    }),
  run: restore,
  // Each step can be repeated, and the old bytes are kept before the first one is overwritten.
  recover: restore,
  outlivesEngine: true,
};

async function restore(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  return await (await import("./run.ts")).restoreParts(deps, job);
}
