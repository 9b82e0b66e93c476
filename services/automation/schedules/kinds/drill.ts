/** Schedules that try out the restore of a stack. @module */

import { includesStack } from "../../../access/scope.ts";
import { startDrill } from "../../../snapshots/drills/start.ts";
import { assertStack, targetName } from "./checks.ts";
import { endOf } from "./job_end.ts";
import type { ScheduleKind } from "./kind.ts";
import { inTurnAt } from "./target_turns.ts";

export const drillKind: ScheduleKind = {
  id: "drill",
  title: "Restore drill",
  description:
    "Restores the newest snapshot of a stack into new volumes, starts the stack on them in " +
    "a private network, judges it and removes everything",
  actions: [{
    id: "drill",
    title: "Try out a restore",
    description: "Proves that the newest snapshot can be restored",
    permission: "backup:run",
  }],
  fields: { stack: "required", target: "optional" },
  check: (deps, plan, options) => assertStack(deps, plan, { ...options, isOfHost: true }),
  subject: (_, { stack }) => stack!,
  isInScope: (_, scope, { stack }) => includesStack(scope, stack!),
  isJob: true,
  run: (deps, { stack, options: { target } }, run) =>
    inTurnAt(
      deps,
      run,
      target,
      async () =>
        await endOf(deps, await startDrill(deps, { stack: stack!, target }, run.actor), run),
    ),
};
