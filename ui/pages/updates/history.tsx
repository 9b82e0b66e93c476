/**
 * Past updates: how each ended, its steps, and what a failed container left behind.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { Job } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JobSteps } from "../../components/job_steps.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { milliseconds, plain, plainLines } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { UPDATE_STEPS } from "./job_names.ts";
import { rollBack } from "./roll_back.ts";

/** Jobs that are listed. */
const SHOWN = 20;

/** The result of a job of the kind `container.update`. */
interface Outcome {
  container: string;
  id: string;
  image: string;
  updated?: boolean;
  reason: string;
  downtimeMs?: number | null;
  evidence?: readonly {
    container: string;
    logLines: readonly string[];
    healthLog: readonly { exitCode: number; output: string }[];
  }[];
}

/** `null` for a job that ended before it changed anything. */
const outcomeOf = ({ result }: Job): Outcome | null => result as Outcome | null;

const STATUSES: Record<string, { name: string; tone: "good" | "warn" | "bad" | "idle" }> = {
  succeeded: { name: "Updated", tone: "good" },
  rolled_back: { name: "Rolled back", tone: "warn" },
  needs_attention: { name: "Needs attention", tone: "bad" },
  failed: { name: "Failed", tone: "bad" },
  cancelled: { name: "Cancelled", tone: "idle" },
};

function Result({ job }: { job: Job }) {
  const { name, tone } = STATUSES[job.status] ?? { name: job.status, tone: "idle" };
  const isSame = job.status === "succeeded" && outcomeOf(job)?.updated === false;
  return <State state={isSame ? "Already up to date" : name} tone={tone} />;
}

const COLUMNS: readonly Column<Job>[] = [
  {
    title: "Container",
    cell: (job) => <Text>{outcomeOf(job)?.container ?? job.target}</Text>,
    sort: (job) => outcomeOf(job)?.container ?? job.target,
  },
  { title: "Result", cell: (job) => <Result job={job} />, sort: ({ status }) => status },
  {
    title: "Reason",
    cell: (job) => <Text>{job.error ?? outcomeOf(job)?.reason ?? ""}</Text>,
    wide: true,
  },
  {
    title: "Ended",
    cell: ({ endedAt }) => <Time at={endedAt} />,
    sort: ({ endedAt }) => endedAt,
    width: "w-m",
  },
];

/** Nothing before the first update. */
export function UpdateHistory() {
  const { data, reload } = useRead("GET /api/jobs", {
    query: { kind: "container.update", limit: SHOWN },
  });
  useReloadOn("update.", reload);
  const open = useSignal<Job | undefined>(undefined);
  const ended = data.value?.jobs.filter(({ endedAt }) => endedAt !== null);
  if (!ended?.length) return null;
  return (
    <Section title="History" wide>
      <Table
        name="Past updates"
        columns={COLUMNS}
        rows={ended}
        keyOf={({ id }) => id}
        nameOf={(job) => `the update of ${outcomeOf(job)?.container ?? job.target}`}
        actions={(job) => [
          { name: "Details", onSelect: () => open.value = job },
          ...(canRollBack(job)
            ? [{ name: "Roll back", danger: true, onSelect: () => void rollBack(containerOf(job)) }]
            : []),
        ]}
        defaultSort="-ended"
      />
      {open.value && <JobDialog job={open.value} onClose={() => open.value = undefined} />}
    </Section>
  );
}

const containerOf = (job: Job) => {
  const { container: name, id } = outcomeOf(job)!;
  return { id, name };
};

const canRollBack = (job: Job): boolean =>
  hasRole("operator") && job.status === "succeeded" && outcomeOf(job)?.updated === true;

function JobDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { container, image, reason, downtimeMs, evidence = [] } = outcomeOf(job) ??
    { container: job.target, image: null, reason: null };
  return (
    <Dialog title={`Update of ${plain(container)}`} onClose={onClose} wide>
      <Facts>
        <Fact name="Result">
          <Result job={job} />
        </Fact>
        {image !== null && (
          <Fact name="Image">
            <span class="wrap">{plain(image)}</span>
          </Fact>
        )}
        {(job.error ?? reason) !== null && <Fact name="Reason">{plain(job.error ?? reason!)}</Fact>}
        {downtimeMs != null && <Fact name="Downtime">{milliseconds(downtimeMs)}</Fact>}
      </Facts>
      <h3>Steps</h3>
      <JobSteps steps={job.steps} names={UPDATE_STEPS} />
      {evidence.map(({ container, logLines, healthLog }) => (
        <div key={container}>
          <h3>Last lines of {plain(container)}</h3>
          <pre class="output" tabIndex={0}>{plainLines(logLines.join("\n")) || "No output"}</pre>
          {healthLog.length > 0 && (
            <>
              <h3>Health checks of {plain(container)}</h3>
              <pre class="output" tabIndex={0}>
                {healthLog.map(({ exitCode, output }) => `${exitCode}  ${plainLines(output)}`)
                  .join("\n")}
              </pre>
            </>
          )}
        </div>
      ))}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
