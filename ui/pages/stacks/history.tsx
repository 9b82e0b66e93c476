/**
 * Past deploys of a stack: how each ended, its steps, and what failed containers left behind.
 *
 * @module
 */

import { type Column, timeColumn } from "../../components/columns.tsx";
import { useSignal } from "@preact/signals";
import type { Job } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { type Evidence, EvidenceList } from "../../parts/evidence.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JobStatus, JobSteps } from "../../parts/job_steps.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { userName, useUserOptions } from "../../parts/user_options.ts";
import { stepNames, useReloadOnEnd } from "./deploy.tsx";

/** Jobs that are read; those of containers with the stack's name are left out. */
const READ = 20;

const NAMES: Readonly<Record<string, string>> = {
  "stack.deploy": "Deploy",
  "stack.down": "Down",
};

/** Results of the jobs, for the table and the dialog. */
const resultOf = ({ result }: Job) =>
  (result ?? {}) as { version?: number; evidence?: readonly Evidence[] };

/** Nothing before the first deploy. */
export function StackHistory({ name }: { name: string }) {
  const { data, reload } = useRead("GET /api/jobs", { query: { target: name, limit: READ } });
  const users = useUserOptions();
  const open = useSignal<Job | undefined>(undefined);
  useReloadOnEnd(name, reload);
  const ended = data.value?.jobs.filter(({ kind, endedAt }) => kind in NAMES && endedAt !== null);
  if (!ended?.length) return null;
  const columns: readonly Column<Job>[] = [
    {
      title: "Action",
      cell: ({ kind }) => NAMES[kind],
      sort: ({ kind }) => NAMES[kind]!,
      width: "w-s",
    },
    {
      title: "Version",
      cell: (job) => resultOf(job).version,
      sort: (job) => resultOf(job).version ?? 0,
      wide: true,
      width: "w-s",
    },
    {
      title: "Result",
      cell: ({ status }) => <JobStatus status={status} />,
      sort: ({ status }) => status,
      width: "w-m",
    },
    {
      title: "Reason",
      cell: ({ error }) => <span class="cut breaks">{plain(error ?? "")}</span>,
      wide: true,
    },
    {
      title: "By",
      cell: ({ createdBy }) => <Text>{userName(users, createdBy)}</Text>,
      wide: true,
      width: "w-l",
    },
    timeColumn("Ended", ({ endedAt }) => endedAt, { wide: true, width: "w-m" }),
  ];
  return (
    <div class="below">
      <Section title="History" wide>
        <Table
          name="Past deploys"
          columns={columns}
          rows={ended}
          keyOf={({ id }) => id}
          nameOf={(job) => {
            const { version } = resultOf(job);
            return version === undefined ? NAMES[job.kind]! : `the deploy of version ${version}`;
          }}
          actions={(job) => [{ name: "Details", onSelect: () => open.value = job }]}
          defaultSort="-ended"
        />
        {open.value && <JobDialog job={open.value} onClose={() => open.value = undefined} />}
      </Section>
    </div>
  );
}

function JobDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { kind, target, steps, error, endedAt } = job;
  return (
    <Dialog title={`${NAMES[kind]} of ${plain(target)}`} onClose={onClose} wide>
      <Facts>
        <Fact name="Result">
          <JobStatus status={job.status} />
        </Fact>
        <Fact name="Ended">
          <Time at={endedAt} />
        </Fact>
        {error !== null && <Fact name="Reason">{plain(error)}</Fact>}
      </Facts>
      <h3>Steps</h3>
      <JobSteps steps={steps} names={stepNames(job)} />
      <EvidenceList evidence={resultOf(job).evidence ?? []} />
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
