/** The jobs that update a stack, and take it back to the images before the last update. @module */

import type { Deps } from "../../deps.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { UPDATE_STEPS } from "./kind.ts";
import type { StackUpdateInput, StackUpdateJob, StackUpdateResult } from "./job.ts";

export const stackUpdateKind: NamedJobKind<StackUpdateInput, StackUpdateResult> = {
  id: "stack.update",
  group: "Updates",
  title: "Stack update",
  running: "Updating {target}",
  isListed: true,
  steps: UPDATE_STEPS,
  targetType: "stack",
  role: "operator",
  permission: "stacks:update",
  reserve({ reservations }, { target, input: { affected: [first, ...affected] } }) {
    return reservations.reserve(first ?? { id: target, name: target }, "updated", { affected });
  },
  run: update,
  recover: update,
  outlivesEngine: true,
};

/** The same steps with the images before the last update. */
export const stackRollbackKind: NamedJobKind<StackUpdateInput, StackUpdateResult> = {
  ...stackUpdateKind,
  id: "stack.rollback",
  title: "Stack rollback",
  running: "Rolling {target} back",
};

async function update(deps: Deps, job: StackUpdateJob): Promise<StackUpdateResult> {
  const { updateStack } = await import("./stack.ts");
  return await updateStack(deps, job);
}
