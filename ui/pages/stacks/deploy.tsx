/** Deploys stacks, as jobs whose steps are shown. @module */

import { api } from "../../api/client.ts";
import { useReloadAfter } from "../../components/reading.ts";
import { plain } from "../../base/text.ts";
import { jobEnd } from "../../state/jobs.ts";
import { addJob, jobs, type LiveJob } from "../../state/live.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

/** Whether a stack is being deployed. */
export const isDeploying = (name: string): boolean =>
  [...jobs.value.values()].some(({ kind, target, endedAt }) =>
    kind === "stack.deploy" && target === name && endedAt === null
  );

/** Reads again when a job of a stack has ended, because states arrive only every 15 seconds. */
export const useReloadOnEnd = (name: string, reload: () => void): void =>
  useReloadAfter(
    [...jobs.value.values()].filter(({ targetType, target, endedAt }) =>
      targetType === "stack" && target === name && endedAt !== null
    ).length,
    reload,
  );

/**
 * Deploys the stored sources, and reports the end.
 *
 * @param expectedVersion The version that the user sees; nothing is deployed if another is current.
 */
export const deployStack = (name: string, expectedVersion?: number): Promise<void> =>
  reportJob(
    () =>
      api("POST /api/stacks/{name}/deploy", {
        path: { name },
        body: expectedVersion === undefined ? {} : { expectedVersion },
      }),
    `Deployed ${plain(name)}`,
  );

/** Starts a job, waits for its end and reports it. */
export async function reportJob(start: () => Promise<LiveJob>, done: string): Promise<void> {
  try {
    const job = await start();
    addJob(job);
    await jobEnd(job.id);
    showStatus(done);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
