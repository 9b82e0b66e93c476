/** The job that restores a whole stack from a snapshot. @module */

import { deployKind } from "../../compose/deploy/kinds.ts";
import type { Deps } from "../../deps.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { operationOf } from "../job.ts";
import { recordRestored } from "../last_backups.ts";
import { restoreKind } from "../restore/kinds.ts";
import {
  deployStep,
  partsOf,
  type StackRestoreInput,
  type StackRestoreJob,
  type StackRestoreResult,
} from "./job.ts";

export const stackRestoreKind: NamedJobKind<StackRestoreInput, StackRestoreResult> = {
  id: "backup.restore_stack",
  group: "Backups",
  title: "Restore",
  running: "Restoring {target}",
  isListed: true,
  steps: {
    ...restoreKind.steps,
    names: "Find images",
    images: "Get images",
    check: "Check directories and the snapshot",
    write: "Create and write volumes",
    sources: "Store the sources",
    ...Object.fromEntries(
      Object.entries(deployKind.steps!).map(([name, words]) => [deployStep(name), words]),
    ),
  },
  unit: "bytes",
  targetType: "stack",
  role: "admin",
  permission: "backup:write",
  reserve({ reservations }, { target, input }) {
    const parts = partsOf(input).map(({ to }) => ({ id: to.path, name: to.path }));
    const [first, ...others] = [...input.affected, { id: target, name: target }, ...parts];
    return reservations.reserve(first!, "restored", {
      affected: others,
      operation: operationOf("backup.restore_stack", target),
    });
  },
  run: restore,
  // Each step can be repeated, and the old bytes are kept before the first one is overwritten.
  recover: restore,
  outlivesEngine: true,
};

async function restore(deps: Deps, job: StackRestoreJob): Promise<StackRestoreResult> {
  const result = await (await import("./run.ts")).restoreStack(deps, job);
  recordRestored(deps, job);
  return result;
}
