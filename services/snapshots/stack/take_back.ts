/** Takes a failed restore of a stack back: nothing of a new one stays, and a replaced one returns. @module */

import { deleteHostPath } from "../../backup/volumes/host_path.ts";
import { restoreNames } from "../../compose/deploy/back.ts";
import type { NamedImage } from "../../compose/deploy/job.ts";
import { returnToVersion } from "../../compose/restored_sources.ts";
import type { Deps } from "../../deps.ts";
import { keepWritten, putBack, type Replacement, stopUsers } from "../replacement.ts";
import { removeKeptNames } from "./images.ts";
import { deployStep, type StackRestoreJob } from "./job.ts";
import { removeParts } from "./parts.ts";

/**
 * Called when the deploy has removed its containers; a new one is left if it could not.
 *
 * @param options.version Of the sources before; `null` without stored ones.
 * @throws {AppError} `conflict` while a container uses what would be deleted under it.
 */
export async function takeBack(
  deps: Deps,
  job: StackRestoreJob,
  { replacement, version, hasWritten }: {
    replacement: Replacement;
    version: number | null;
    hasWritten: boolean;
  },
): Promise<void> {
  const { target: name, input: { to, userId } } = job;
  await restoreNames(deps, (job.resultOf("names") ?? []) as NamedImage[]);
  if (hasWritten) {
    if (to === "replace" && job.hasBegun(deployStep("read"))) {
      await keepWritten(deps, job, replacement);
    }
    await job.step("put back", async () => {
      await stopUsers(deps, replacement);
      await removeParts(deps, job);
      await removePaths(deps, job);
      if (to === "replace") await putBack(deps, job, replacement);
      if (job.hasBegun("sources")) await returnToVersion(deps, { name, userId, version });
    });
  }
  if (job.hasBegun("images")) await removeKeptNames(deps, job);
}

/** Directories and files of the host that this job has created. */
async function removePaths(deps: Deps, job: StackRestoreJob): Promise<void> {
  const { created } = job.input;
  const signal = deps.jobs.stopping;
  for (const path of created) await deleteHostPath(deps, path, signal);
}
