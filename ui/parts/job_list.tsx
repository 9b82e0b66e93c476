/** Jobs in progress, each with how far it is. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import { useJobs } from "../state/jobs.ts";
import { addJob, isVisible, type LiveJob } from "../state/live.ts";
import { hasRole } from "../state/session.ts";
import { followStream } from "../state/stream.ts";
import { withResult } from "../state/toasts.ts";
import { Button } from "../components/button.tsx";
import styles from "./job_list.css" with { type: "text" };
import { JobSteps } from "./job_steps.tsx";
import { Section } from "../components/page.tsx";
import { addStyles } from "../components/styles.ts";
import { bytes, capital, plain } from "../base/text.ts";

addStyles(styles);

/** Each takes one of the six connections of a browser to a server without HTTP/2. */
const FOLLOWED_MAX = 2;

/**
 * @param props.nameOf What a job is called, e.g. `Pulling nginx:latest`.
 * @param props.stepNames Names of its steps in words; without them, the steps are not shown.
 * @param props.target Shows only jobs on it, e.g. a container.
 */
export function JobList({ title, kinds, nameOf, stepNames, target }: {
  title: string;
  kinds: readonly string[];
  nameOf: (job: LiveJob) => string;
  stepNames?: (job: LiveJob) => Readonly<Record<string, string>>;
  target?: string;
}) {
  const active = useJobs(kinds).filter((job) => target === undefined || job.target === target);
  if (active.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="jobs">
        {active.map((job, at) => (
          <JobItem
            key={job.id}
            job={job}
            name={plain(nameOf(job))}
            isFollowed={at < FOLLOWED_MAX}
            stepNames={stepNames?.(job)}
          />
        ))}
      </ul>
    </Section>
  );
}

function JobItem({ job, name, isFollowed, stepNames }: {
  job: LiveJob;
  name: string;
  isFollowed: boolean;
  stepNames: Readonly<Record<string, string>> | undefined;
}) {
  const progress = useProgress(job, isFollowed);
  const { current = 0, total = null, message = null } = progress ?? {};
  // Other jobs count steps.
  const figure = job.kind.startsWith("image.") ? bytes : String;
  const figures = total !== null
    ? `${figure(current)} of ${figure(total)}`
    : current > 0
    ? figure(current)
    : capital(job.status);
  const mayCancel = job.kind.startsWith("image.")
    ? hasRole("admin", "images:write")
    : hasRole("operator", "containers:update");
  const cancel = () =>
    withResult(
      `Cancelling ${name}`,
      () => api("POST /api/jobs/{id}/cancel", { path: { id: job.id } }),
    );
  return (
    <li>
      <div>
        <span class="job-name">{name}</span>
        <span class="muted">{message === null ? figures : `${plain(message)}, ${figures}`}</span>
        <ProgressBar name={name} value={total ? current / total : undefined} />
        {stepNames && <JobSteps steps={job.steps} names={stepNames} />}
      </div>
      {mayCancel && <Button onClick={() => void cancel()}>Cancel</Button>}
    </li>
  );
}

/** @param props.value From 0 to 1; `undefined` while it is unknown. */
export function ProgressBar({ name, value }: { name: string; value: number | undefined }) {
  return <progress class="progress" aria-label={name} max={1} value={value} />;
}

/** The progress of a job from its own stream, while it is followed and the page is visible. */
function useProgress({ id, progress: known }: LiveJob, isFollowed: boolean): LiveJob["progress"] {
  const progress = useSignal<LiveJob["progress"]>(null);
  const isOpen = isFollowed && isVisible.value;
  useEffect(() => {
    if (!isOpen) return;
    const end = new AbortController();
    void followStream({
      signal: end.signal,
      path: `api/jobs/${encodeURIComponent(id)}/stream`,
      onFrame({ type, json }) {
        const data: unknown = JSON.parse(json);
        if (type === "progress") progress.value = data as LiveJob["progress"];
        if (type !== "done") return;
        end.abort();
        addJob(data as LiveJob);
      },
      onState() {},
    });
    return () => end.abort();
  }, [id, isOpen]);
  return progress.value ?? known;
}
