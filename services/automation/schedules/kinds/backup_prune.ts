/** Schedules that remove old snapshots from a backup target. @module */

import { openTarget } from "../../../backup/targets/targets.ts";
import { forgetKind, pruneKind, startTargetJob } from "../../../backup/targets/jobs.ts";
import type { Deps } from "../../../deps.ts";
import { targetName } from "./checks.ts";
import { endOf } from "./job_end.ts";
import type { Outcome, Plan, Run, ScheduleKind } from "./kind.ts";
import { inTurnAt, whenFree } from "./target_turns.ts";

export const backupPruneKind: ScheduleKind = {
  id: "backup-prune",
  title: "Prune backups",
  description: "Forgets the snapshots of this host that no keep rule keeps, and removes from a " +
    "target what no snapshot needs",
  actions: [{
    id: "prune",
    title: "Prune backups",
    description: "Forgets snapshots, and removes their data",
    permission: "backup:write",
  }],
  fields: { target: "optional", keep: "optional", maxUnusedPercent: "optional" },
  subject: (deps, { options: { target } }) =>
    target === undefined ? "Default target" : targetName(deps, target),
  isInScope: () => false,
  isJob: true,
  run: (deps, plan, run) =>
    inTurnAt(deps, run, plan.options.target, () => forgetAndPrune(deps, plan, run)),
};

async function forgetAndPrune(deps: Deps, { options }: Plan, run: Run): Promise<Outcome> {
  const { target: { id } } = await openTarget(deps, options.target);
  await whenFree(deps, id, { isExclusive: true });
  if (options.keep) {
    const job = startTargetJob(deps, run.actor, forgetKind, id, options.keep);
    const outcome = await endOf(deps, job, run);
    if (outcome !== undefined) return outcome;
    await whenFree(deps, id, { isExclusive: true });
  }
  const { maxUnusedPercent } = options;
  const job = startTargetJob(deps, run.actor, pruneKind, id, {
    isDryRun: false,
    ...(maxUnusedPercent !== undefined && { maxUnusedPercent }),
  });
  return await endOf(deps, job, run);
}
