/** The jobs that update a container, and take it back to the image before. @module */

import type { Deps } from "../../deps.ts";
import type { JobKind } from "../../jobs/kind.ts";
import type { UpdateInput, UpdateJob, UpdateResult } from "./job.ts";

export const updateKind: JobKind<UpdateInput, UpdateResult> = {
  name: "container.update",
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
export const rollbackKind: JobKind<UpdateInput, UpdateResult> = {
  ...updateKind,
  name: "container.rollback",
};

/** Loaded on first use, because most starts of the service have no update to resume. */
async function update(deps: Deps, job: UpdateJob): Promise<UpdateResult> {
  const machine = await import("./machine.ts");
  return await machine.update(deps, job);
}
