/**
 * Deploys a stack and removes its containers, as jobs whose progress is shown.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { StackDetail } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { JobList } from "../../components/job_list.tsx";
import { count, plain } from "../../components/text.ts";
import { jobEnd } from "../../state/jobs.ts";
import { addJob, type LiveJob } from "../../state/live.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

const VERBS: Readonly<Record<string, string>> = {
  "stack.deploy": "Deploying",
  "stack.down": "Removing",
};

const KINDS = Object.keys(VERBS);

const nameOfJob = ({ kind, target }: LiveJob) => `${VERBS[kind]} ${target}`;

/** The running jobs of stacks. */
export function StackJobs() {
  return <JobList title="In progress" kinds={KINDS} nameOf={nameOfJob} />;
}

/** Deploys the stored sources, and reports the end. */
export function deployStack(name: string): Promise<void> {
  return report(
    () => api("POST /api/stacks/{name}/deploy", { path: { name }, body: {} }),
    `Deployed ${plain(name)}`,
  );
}

/** Confirms and removes the containers and networks of a Compose project. */
export async function takeDown({ name, services }: StackDetail): Promise<void> {
  const names = services.flatMap(({ containers }) => containers.map(({ name }) => plain(name)));
  const consequence = `${count(names.length, "container")} and the networks of the stack are ` +
    `removed: ${names.join(", ")}. Volumes and sources stay.`;
  if (!await confirm({ verb: "Remove", name, consequence, typed: true })) return;
  await report(
    () => api("POST /api/stacks/{name}/down", { path: { name }, body: {} }),
    `Removed ${plain(name)}`,
  );
}

/** Starts a job, waits for its end and reports it. */
async function report(start: () => Promise<LiveJob>, done: string): Promise<void> {
  try {
    const job = await start();
    addJob(job);
    await jobEnd(job.id);
    showStatus(done);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
