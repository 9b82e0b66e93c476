/** Volumes that a restore creates. A label says which job, so that no other volume is removed. @module */

import { findVolume, volumeRemove } from "../../../engine/volumes.ts";
import { createVolume } from "../../backup/volumes/write.ts";
import type { Deps } from "../../deps.ts";
import type { RestoreJob } from "./job.ts";

export const JOB_LABEL = "longshore.restore";

/** @throws {AppError} `conflict` for a name in use. */
export async function createVolumes(
  deps: Pick<Deps, "engine">,
  { id, input: { parts }, signal }: RestoreJob,
): Promise<void> {
  for (const { to } of parts) {
    const volume = { name: to.mount.source, labels: { [JOB_LABEL]: id } };
    await createVolume(deps, volume, { signal });
  }
}

/** Removes those that this job has created. */
export async function removeVolumes(
  { engine }: Pick<Deps, "engine">,
  { id, input: { parts } }: RestoreJob,
): Promise<void> {
  for (const { to: { mount: { source } } } of parts) {
    const found = await findVolume(engine, source);
    if (found?.Labels?.[JOB_LABEL] === id) await volumeRemove(engine, source);
  }
}
