/**
 * Past deploys of a stack: how each ended, its steps, and what failed containers left behind.
 *
 * @module
 */

import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { useSignal } from "@preact/signals";
import type { Job, JobKind } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { type Evidence, EvidenceList } from "../../parts/evidence.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JobStatus, JobSteps } from "../../parts/job_steps.tsx";
import { Section } from "../../components/page.tsx";
import { useKinds } from "../../parts/kinds.tsx";
import { jobKinds } from "../../state/kinds.ts";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { userName } from "../../parts/user_name.ts";
import { useUserOptions } from "../../parts/user_options.ts";
import { useReloadOnEnd } from "../../state/jobs.ts";
import { query } from "../../state/router.ts";

/** Jobs that are read; those of containers with the stack's name are left out. */
const READ = 20;

/** Results of the jobs, for the table and the dialog. */
const resultOf = ({ result }: Job) =>
  (result ?? {}) as { version?: number; evidence?: readonly Evidence[] };

/** Nothing before the first deploy. */
export function StackHistory({ name }: { name: string }) {
  const { data, reload } = useRead("GET /api/jobs", { query: { target: name, limit: READ } });
  const users = useUserOptions();
  const open = useSignal<Job | undefined>(undefined);
  // Links of messages name a job, which is open at first.
  const wanted = useSignal(query.peek().get("job"));
  useReloadOnEnd({ targetType: "stack", target: name }, reload);
  const kinds = useKinds(jobKinds).filter(({ group, isListed }) => group === "Stacks" && isListed);
  const kindOf = (job: Job) => kinds.find(({ id }) => id === job.kind);
  const ended = data.value?.jobs.filter((job) => kindOf(job) && job.endedAt !== null);
  if (!ended?.length) return null;
  const shown = open.value ?? ended.find(({ id }) => id === wanted.value);
  const columns: readonly Column<Job>[] = [
    textColumn("Action", (job) => kindOf(job)!.title, { width: "w-s" }),
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
            return version === undefined ? kindOf(job)!.title : `the deploy of version ${version}`;
          }}
          actions={(job) => [{ name: "Details", onSelect: () => open.value = job }]}
          defaultSort="-ended"
        />
        {shown && (
          <JobDialog
            job={shown}
            kind={kindOf(shown)!}
            onClose={() => {
              open.value = undefined;
              wanted.value = null;
            }}
          />
        )}
      </Section>
    </div>
  );
}

function JobDialog({ job, kind, onClose }: { job: Job; kind: JobKind; onClose: () => void }) {
  const { target, steps, error, endedAt } = job;
  return (
    <Dialog title={`${kind.title} of ${plain(target)}`} onClose={onClose} wide>
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
      <JobSteps steps={steps} names={kind.steps} />
      <EvidenceList evidence={resultOf(job).evidence ?? []} />
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
