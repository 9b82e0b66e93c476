/** The jobs that update a container, and take it back to the image before. @module */

import type { Deps } from "../../deps.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { DATA_STEPS } from "../data/step_names.ts";
import type { UpdateInput, UpdateJob, UpdateResult } from "./job.ts";

/** Names of the steps of an update. */
export const UPDATE_STEPS = {
  plan: "Plan",
  pull: "Pull the image",
  rehearse: "Rehearse the update on a copy",
  create: "Create the new container",
  swap: "Replace the old container",
  verify: "Verify the new container",
  evidence: "Keep its log",
  measure: "Measure the downtime",
  commit: "Remove the old container",
  ...DATA_STEPS,
  roll_back: "Put the old container back",
};

export const updateKind: NamedJobKind<UpdateInput, UpdateResult> = {
  id: "container.update",
  group: "Updates",
  title: "Update",
  running: "Updating {target}",
  isListed: true,
  steps: UPDATE_STEPS,
  targetType: "container",
  role: "operator",
  permission: "containers:update",
  reserve: ({ reservations }, { input: { containerId, name, affected } }) =>
    reservations.reserve({ id: containerId, name }, "updated", { affected }),
  run: update,
  recover: update,
  outlivesEngine: true,
};

/** The same steps with the image before the last update. */
export const rollbackKind: NamedJobKind<UpdateInput, UpdateResult> = {
  ...updateKind,
  id: "container.rollback",
  title: "Rollback",
  running: "Rolling {target} back",
};

/** Loaded on first use, because most starts of the service have no update to resume. */
async function update(deps: Deps, job: UpdateJob): Promise<UpdateResult> {
  const machine = await import("./machine.ts");
  return await machine.update(deps, job);
}
