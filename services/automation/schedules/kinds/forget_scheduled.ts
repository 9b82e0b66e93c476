/** Forgets old backups after a scheduled one, by its keep rules. @module */

import { selectDefaultBackupTarget } from "../../../../db/backup_targets.ts";
import { forgetKind, type ForgetRequest, startTargetJob } from "../../../backup/targets/jobs.ts";
import type { Deps } from "../../../deps.ts";
import { endOf } from "./job_end.ts";
import type { Outcome, Plan, Run } from "./kind.ts";
import { whenFree } from "./target_turns.ts";

/** Backups that people or updates have made stay. */
export async function forgetScheduled(
  deps: Deps,
  { options: { keep, target } }: Plan,
  run: Run,
  only: NonNullable<ForgetRequest["only"]>,
): Promise<Outcome> {
  const id = target ?? selectDefaultBackupTarget(deps.db)?.id;
  if (id === undefined) return undefined;
  await whenFree(deps, id, { isExclusive: true });
  const job = startTargetJob(deps, run.actor, forgetKind, id, { ...keep, only });
  const outcome = await endOf(deps, job, run);
  if (outcome === undefined || outcome === "unfinished") return outcome;
  return { ...outcome, error: `Backed up, but old snapshots stay: ${outcome.error}` };
}
