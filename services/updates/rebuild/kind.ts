/** The job that rebuilds a container, by the steps of an update. @module */

import type { Deps } from "../../deps.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import type { Planned, UpdateInput, UpdateJob } from "../run/job.ts";
import { UPDATE_STEPS } from "../run/kind.ts";

export interface RebuildResult {
  ok: true;
  oldId: string;
  id: string;
  /** The image reference of the container. */
  image: string;
  /** Whether the reference now refers to a different image. */
  imageUpdated: boolean;
}

export const rebuildKind: NamedJobKind<UpdateInput, RebuildResult> = {
  id: "container.rebuild",
  group: "Updates",
  title: "Rebuild",
  running: "Rebuilding {target}",
  steps: UPDATE_STEPS,
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
