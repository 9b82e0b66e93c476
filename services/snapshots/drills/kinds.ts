/** The job that tries out the restore of a stack. @module */

import type { NamedJobKind } from "../../jobs/kind.ts";
import type { DrillInput, DrillResult } from "./job.ts";

export const drillKind: NamedJobKind<DrillInput, DrillResult> = {
  id: "backup.drill",
  group: "Backups",
  title: "Drill",
  running: "Trying out a restore of {target}",
  isListed: true,
  steps: {
    plan: "Plan",
    images: "Get the images",
    create: "Create volumes and containers",
    restore: "Restore into new volumes",
    verify: "Start and verify the containers",
    record: "Record the result",
    remove: "Remove everything again",
  },
  unit: "bytes",
  targetType: "stack",
  role: "operator",
  permission: "backup:run",
  run: async (deps, job) => await (await import("./run.ts")).drill(deps, job),
  recover: async (deps, job) => await (await import("./run.ts")).endDrill(deps, job),
  outlivesEngine: true,
  endEvent: ({ id: jobId, target: stack, input, status, error }) => {
    const { place, snapshot } = input as DrillInput;
    return status === "failed"
      ? { event: "drill.failed", data: { stack, place, snapshot, reason: error, jobId } }
      : undefined;
  },
};
