/** Schedules that back Longshore itself up. @module */

import { OWN_BACKUP } from "../../../backup/targets/own_backups.ts";
import type { Deps } from "../../../deps.ts";
import { OWN_NAME, OWN_PATH, OWN_SUBJECT } from "../../../snapshots/own/content.ts";
import { startOwnBackup } from "../../../snapshots/own/start.ts";
import { forgetScheduled } from "./forget_scheduled.ts";
import { endOf } from "./job_end.ts";
import type { Outcome, Plan, Run, ScheduleKind } from "./kind.ts";
import { inTurnAt, whenFree } from "./target_turns.ts";

export const ownBackupScheduleKind: ScheduleKind = {
  id: OWN_BACKUP,
  title: "Backup of Longshore",
  description: "Stores the databases, keys and license of Longshore at a target, and forgets old " +
    "ones by its keep rules; only admins who log in may enable one",
  actions: [{
    id: "backup",
    title: "Back up",
    description: "Stores a snapshot",
    permission: "backup:write",
  }],
  // The default target may change, and another one would get the keys.
  fields: { target: "required", keep: "optional" },
  needsLogin: true,
  subject: () => OWN_NAME,
  backupSubject: () => OWN_SUBJECT,
  isInScope: () => false,
  isJob: true,
  run: (deps, plan, run) => inTurnAt(deps, run, plan.options.target, () => backUp(deps, plan, run)),
};

async function backUp(deps: Deps, plan: Plan, run: Run): Promise<Outcome> {
  const { keep, target } = plan.options;
  if (target === undefined) return { status: "failure", error: "The schedule has no target" };
  await whenFree(deps, target, { isExclusive: false });
  const outcome = await endOf(
    deps,
    await startOwnBackup(deps, run.actor, { target }, "schedule"),
    run,
  );
  if (outcome !== undefined || !keep) return outcome;
  return await forgetScheduled(deps, plan, run, { paths: [OWN_PATH] });
}
