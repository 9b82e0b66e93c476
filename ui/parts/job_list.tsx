/** Jobs in progress, each with how far it is. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { JobKind } from "../api/types.ts";
import { useJobs } from "../state/jobs.ts";
import { jobKinds } from "../state/kinds.ts";
import { addJob, isVisible, type LiveJob } from "../state/live.ts";
import { hasRole } from "../state/session.ts";
import { followStream } from "../state/stream.ts";
import { withResult } from "../state/toasts.ts";
import { Button } from "../components/button.tsx";
import styles from "./job_list.css" with { type: "text" };
import { JobSteps } from "./job_steps.tsx";
import { useKinds } from "./kinds.tsx";
import { Section } from "../components/page.tsx";
import { addStyles } from "../components/styles.ts";
import { bytes, capital, plain } from "../base/text.ts";

addStyles(styles);

/** Each takes one of the six connections of a browser to a server without HTTP/2. */
const FOLLOWED_MAX = 2;

/** @param props.target Shows only jobs on it, with their steps; without a type, those of any. */
export function JobList({ group, target }: {
  group: JobKind["group"];
  target?: Pick<LiveJob, "target"> & Partial<Pick<LiveJob, "targetType">>;
}) {
  const kinds = useKinds(jobKinds).filter((kind) => kind.group === group);
  const active = useJobs(kinds.map(({ id }) => id))
    .filter((job) =>
      target === undefined ||
      job.target === target.target &&
        (target.targetType === undefined || job.targetType === target.targetType)
    );
  if (active.length === 0) return null;
  return (
    <Section title="In progress">
      <ul class="jobs">
        {active.map((job, at) => (
          <JobItem
            key={job.id}
            job={job}
            kind={kinds.find(({ id }) => id === job.kind)!}
            isFollowed={at < FOLLOWED_MAX}
            hasSteps={target !== undefined}
          />
        ))}
      </ul>
    </Section>
  );
}

function JobItem({ job, kind, isFollowed, hasSteps }: {
  job: LiveJob;
  kind: JobKind;
  isFollowed: boolean;
  hasSteps: boolean;
}) {
  const progress = useProgress(job, isFollowed);
  const { current = 0, total = null, message = null } = progress ?? {};
  const name = plain(kind.running.replace("{target}", () => job.target));
  const figure = kind.unit === "bytes" ? bytes : String;
  const figures = total !== null
    ? `${figure(current)} of ${figure(total)}`
    : current > 0
    ? figure(current)
    : capital(job.status);
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
        {hasSteps && <JobSteps steps={job.steps} names={kind.steps} />}
      </div>
      {hasRole(kind.role, kind.permission) && <Button onClick={() => void cancel()}>Cancel</Button>}
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
