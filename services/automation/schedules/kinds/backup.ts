/** Schedules that back up a stack or volumes. @module */

import { includesStack } from "../../../access/scope.ts";
import { volumePart } from "../../../backup/trees/part.ts";
import type { Deps } from "../../../deps.ts";
import { excludedBy } from "../../../snapshots/labels.ts";
import { backupSubject } from "../../../snapshots/last_backups.ts";
import { MODE_LABEL } from "../../../snapshots/modes.ts";
import { assertVolumes, startSnapshot } from "../../../snapshots/start.ts";
import { assertStack, assertThere, fieldError } from "./checks.ts";
import { forgetScheduled } from "./forget_scheduled.ts";
import { endOf } from "./job_end.ts";
import type { CheckDeps, CheckOptions, Outcome, Plan, Run, ScheduleKind } from "./kind.ts";
import { inTurnAt, whenFree } from "./target_turns.ts";

export const backupKind: ScheduleKind = {
  id: "backup",
  title: "Backup",
  description: "Stores a snapshot of a stack or of volumes, and forgets old ones by its keep rules",
  actions: [{
    id: "backup",
    title: "Back up",
    description: "Stores a snapshot",
    permission: "backup:run",
  }],
  fields: {
    stack: "optional",
    volumes: "optional",
    target: "optional",
    mode: "optional",
    includeSharedUsers: "optional",
    keep: "optional",
  },
  permissions: ({ keep }) => keep ? ["backup:write"] : [],
  check: assertContents,
  subject: (_, { stack, options: { volumes } }) => stack ?? volumes!.join(", "),
  backupSubject: ({ stack, options: { volumes = [] } }) => backupSubject({ stack, volumes }),
  isInScope: (_, scope, { stack }) => stack !== null && includesStack(scope, stack),
  isJob: true,
  run: (deps, plan, run) => inTurnAt(deps, run, plan.options.target, () => backUp(deps, plan, run)),
};

async function assertContents(
  deps: CheckDeps,
  plan: Plan,
  options: CheckOptions,
): Promise<void> {
  const { stack, options: { volumes } } = plan;
  if ((stack === null) === (volumes === undefined)) {
    throw fieldError("stack", "A backup needs either stack or volumes");
  }
  await assertStack(deps, plan, { ...options, isOfHost: true });
  if (options.allowMissing) return;
  const known = options.before?.options.volumes ?? [];
  for (const volume of volumes?.filter((each) => !known.includes(each)) ?? []) {
    await assertThere("volumes", `Volume ${volume}`, () => assertVolumes(deps, [volume]));
  }
}

async function backUp(deps: Deps, plan: Plan, run: Run): Promise<Outcome> {
  const { stack, options: { volumes, mode, includeSharedUsers = false, keep, target } } = plan;
  const excluding = stack === null ? undefined : await excludedBy(deps, stack);
  if (excluding !== undefined) {
    const error = `Not backed up: ${excluding} has the label ${MODE_LABEL}=off`;
    return { status: "skipped", error };
  }
  if (target !== undefined) await whenFree(deps, target, { isExclusive: false });
  const outcome = await endOf(
    deps,
    await startSnapshot(deps, run.actor, {
      ...(stack === null ? { volumes } : { stack }),
      target,
      mode,
      includeSharedUsers,
    }, "schedule"),
    run,
  );
  return outcome === undefined && keep ? await forgetOld(deps, plan, run) : outcome;
}

/** Those of other stacks and volumes stay. */
async function forgetOld(deps: Deps, plan: Plan, run: Run): Promise<Outcome> {
  const { stack, options: { volumes = [] } } = plan;
  const only = stack === null ? { paths: volumes.map((name) => volumePart(name).path) } : { stack };
  return await forgetScheduled(deps, plan, run, only);
}
