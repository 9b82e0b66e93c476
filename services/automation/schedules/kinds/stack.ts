/** Schedules that act on a stack. @module */

import { includesStack } from "../../../access/scope.ts";
import type { ContainerAction } from "../../../containers/actions.ts";
import { actOnStack } from "../../../stacks/actions.ts";
import { assertStack } from "./checks.ts";
import { endOf } from "./job_end.ts";
import type { Outcome, ScheduleAction, ScheduleKind } from "./kind.ts";

const action = (
  id: ContainerAction | "update",
  words: Pick<ScheduleAction, "title" | "description">,
): ScheduleAction => ({ id, ...words, permission: `stacks:${id}` });

export const stackKind: ScheduleKind = {
  id: "stack",
  title: "Stack action",
  description: "Acts on the containers of a stack, in the order of their dependencies",
  actions: [
    action("restart", { title: "Restart", description: "Restarts the containers of the stack" }),
    action("start", {
      title: "Start",
      description: "Starts the containers of the stack that do not run",
    }),
    action("stop", { title: "Stop", description: "Stops the containers of the stack" }),
    action("update", {
      title: "Update",
      description: "Pulls all images of the stack, and updates its containers if they are newer",
    }),
  ],
  fields: { stack: "required" },
  check: (deps, plan, options) =>
    assertStack(deps, plan, { ...options, isOfHost: plan.action === "update" }),
  subject: (_, { stack }) => stack!,
  isInScope: (_, scope, { stack }) => includesStack(scope, stack!),
  async run(deps, { action, stack }, run): Promise<Outcome> {
    const name = stack!;
    if (action === "update") {
      const { startStackUpdate } = await import("../../../updates/run/start_stack.ts");
      const { actor } = run;
      const job = await startStackUpdate(deps, {
        name,
        atomic: true,
        pull: "always",
        isAutomatic: true,
        actor,
      });
      return await endOf(deps, job, run);
    }
    const { ok, results } = await actOnStack(deps, name, action as ContainerAction);
    if (ok) return undefined;
    const errors = results.flatMap(({ name, error }) => error === null ? [] : `${name}: ${error}`);
    return { status: "failure", error: errors.join("; ") };
  },
};
