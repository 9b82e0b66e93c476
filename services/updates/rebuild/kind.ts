/** The job that rebuilds a container, by the steps of an update. @module */

import type { Deps } from "../../deps.ts";
import type { JobKind } from "../../jobs/kind.ts";
import type { Planned, UpdateInput, UpdateJob } from "../run/job.ts";

export interface RebuildResult {
  ok: true;
  oldId: string;
  id: string;
  /** The image reference of the container. */
  image: string;
  /** Whether the reference now refers to a different image. */
  imageUpdated: boolean;
}

export const rebuildKind: JobKind<UpdateInput, RebuildResult> = {
  name: "container.rebuild",
  targetType: "container",
  role: "admin",
  permission: "containers:rebuild",
  reserve: ({ reservations }, { input: { containerId, name, affected } }) =>
    reservations.reserve({ id: containerId, name }, "rebuilt", { affected }),
  run: rebuild,
  recover: rebuild,
  outlivesEngine: true,
};

async function rebuild(deps: Deps, job: UpdateJob): Promise<RebuildResult> {
  const { update } = await import("../run/machine.ts");
  const { oldId, id, image, imageId } = await update(deps, job);
  const { oldImageId } = job.resultOf("plan") as Planned;
  return { ok: true, oldId, id, image, imageUpdated: imageId !== oldImageId };
}
