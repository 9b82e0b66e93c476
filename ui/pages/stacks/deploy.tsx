/** Deploys stacks, as jobs whose steps are shown. @module */

import { api } from "../../api/client.ts";
import { JobList } from "../../parts/job_list.tsx";
import { useReloadAfter } from "../../components/reading.ts";
import { plain } from "../../base/text.ts";
import { jobEnd } from "../../state/jobs.ts";
import { addJob, jobs, type LiveJob } from "../../state/live.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

const VERBS: Readonly<Record<string, string>> = {
  "stack.deploy": "Deploying",
  "stack.down": "Removing",
};

const KINDS = Object.keys(VERBS);

/** Names of steps in words. */
const DEPLOY_STEPS = {
  read: "Read the sources",
  pull: "Pull images",
  plan: "Plan",
  networks: "Create networks",
  volumes: "Create volumes",
  "stop removed": "Stop what is no longer needed",
  "create dependents": "Create containers that depend on replaced ones",
  "start dependents": "Start containers that depend on replaced ones",
  verify: "Verify the new containers",
  commit: "Remove the old containers",
  failure: "Record the failure",
  "read logs": "Read the logs of failed containers",
  "clean up": "Clean up",
};
const DOWN_STEPS = {
  plan: "Find the containers",
  containers: "Remove containers",
  networks: "Remove networks",
  volumes: "Remove volumes",
  images: "Remove images",
};

const nameOfJob = ({ kind, target }: LiveJob) => `${VERBS[kind]} ${target}`;

/** Names of the steps of a job in words. */
export const stepNames = ({ kind }: Pick<LiveJob, "kind">) =>
  kind === "stack.down" ? DOWN_STEPS : DEPLOY_STEPS;

/** The running jobs of a stack. */
export function StackJobs({ name }: { name: string }) {
  return (
    <JobList
      title="In progress"
      kinds={KINDS}
      nameOf={nameOfJob}
      stepNames={stepNames}
      target={name}
    />
  );
}

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
