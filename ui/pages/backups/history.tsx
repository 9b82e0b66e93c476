/** Past backups and restores: how each ended, its steps, and what came of it in words. @module */

import { useSignal } from "@preact/signals";
import type { Job, JobKind } from "../../api/types.ts";
import { bytes, count, milliseconds, plain, plainLines } from "../../base/text.ts";
import { Button, Link } from "../../components/button.tsx";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { JobStatus, JobSteps } from "../../parts/job_steps.tsx";
import { useBackupJobs, useBackupKinds } from "./reading.ts";
import { shortId, snapshotPath, volumeName } from "./snapshot_text.ts";

/** Jobs that are listed. */
const SHOWN = 20;

/** The results of these kinds. */
interface Outcome {
  /** Of a backup. */
  snapshot?: string;
  size?: number;
  added?: number;
  leftOut?: readonly string[];
  /** Of a restore. */
  restored?: readonly string[];
  bytes?: number;
  kept?: string | null;
  verdict?: string | null;
  warnings?: readonly string[];
  /** Of both. */
  target?: string;
  downtimeMs?: number;
  skippedCount?: number;
  /** Of a drill. */
  reason?: string;
  durationMs?: number;
}

const outcomeOf = ({ result }: Job) => (result ?? {}) as Outcome;

/** E.g. `1.2 GiB; the target grew by 30 MiB`. */
function summaryOf(job: Job): string {
  if (job.error !== null) return job.error;
  const { size, added, restored, bytes: written, reason } = outcomeOf(job);
  if (reason !== undefined) return reason;
  if (size !== undefined) return `${bytes(size)}; the target grew by ${bytes(added)}`;
  if (!restored) return "";
  return restored.length === 0
    ? "Without volumes"
    : `${bytes(written)} into ${restored.map(volumeName).join(", ")}`;
}

/** Nothing before the first backup. */
export function BackupHistory() {
  const kinds = useBackupKinds();
  const ids = kinds.filter(({ isListed }) => isListed).map(({ id }) => id);
  const { data, reload } = useRead(
    "GET /api/jobs",
    ids.length === 0 ? undefined : { query: { kind: ids, limit: SHOWN } },
  );
  useReloadAfter(useBackupJobs().length, reload);
  const open = useSignal<Job | undefined>(undefined);
  const kindOf = (job: Job) => kinds.find(({ id }) => id === job.kind)!;
  const describe = (job: Job) => plain(`${kindOf(job).title} of ${job.target}`);
  const ended = data.value?.jobs.filter((job) => job.endedAt !== null && kindOf(job));
  if (!ended?.length) return null;
  return (
    <div class="below">
      <Section title="History" wide>
        <Table
          name="Past backups and restores"
          columns={columnsOf(kindOf)}
          rows={ended}
          keyOf={({ id }) => id}
          nameOf={describe}
          actions={(job) => [{ name: "Details", onSelect: () => open.value = job }]}
          defaultSort="-ended"
        />
      </Section>
      {open.value && (
        <JobDialog
          title={describe(open.value)}
          job={open.value}
          names={kindOf(open.value).steps}
          onClose={() => open.value = undefined}
        />
      )}
    </div>
  );
}

const columnsOf = (kindOf: (job: Job) => JobKind): readonly Column<Job>[] => [
  {
    title: "Name",
    cell: (job) => (
      <>
        <Text>{job.target}</Text>
        <p class="hint narrow-only">
          {plainLines([kindOf(job).title, summaryOf(job)].filter(Boolean).join(": "))}
        </p>
      </>
    ),
    sort: ({ target }) => target,
    width: "w-l",
  },
  textColumn("Action", (job) => kindOf(job).title, { wide: true, width: "w-s" }),
  {
    title: "Result",
    cell: ({ status }) => <JobStatus status={status} />,
    sort: ({ status }) => status,
    width: "w-m",
  },
  {
    title: "Summary",
    cell: (job) => <span class="cut breaks">{plainLines(summaryOf(job))}</span>,
    wide: true,
  },
  timeColumn("Ended", ({ endedAt }) => endedAt, { wide: true, width: "w-m" }),
];

function JobDialog({ title, job, names, onClose }: {
  title: string;
  job: Job;
  names: JobKind["steps"];
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose} wide>
      <Facts>
        <Fact name="Result">
          <JobStatus status={job.status} />
        </Fact>
        <Fact name="Ended">
          <Time at={job.endedAt} />
        </Fact>
        <Details job={job} />
      </Facts>
      {job.steps.length > 0 && (
        <>
          <h3>Steps</h3>
          <JobSteps steps={job.steps} names={names} />
        </>
      )}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** Facts of a backup that stored something, or of a restore. */
function Details({ job }: { job: Job }) {
  const { target, snapshot, kept, verdict, downtimeMs, skippedCount, leftOut, warnings = [] } =
    outcomeOf(job);
  const summary = summaryOf(job);
  const link = (id: string) =>
    target === undefined
      ? shortId(id)
      : <Link to={snapshotPath({ id, target })}>{`Snapshot ${shortId(id)}`}</Link>;
  return (
    <>
      {summary !== "" && (
        <Fact name={job.error === null ? "Summary" : "Reason"}>
          <span class="wrap">{plainLines(summary)}</span>
        </Fact>
      )}
      {snapshot !== undefined && <Fact name="Stored as">{link(snapshot)}</Fact>}
      {kept != null && <Fact name="Replaced files">{link(kept)}</Fact>}
      {verdict != null && <Fact name="Containers">{plain(verdict)}</Fact>}
      {downtimeMs !== undefined && (
        <Fact name="Downtime">{downtimeMs === 0 ? "None" : milliseconds(downtimeMs)}</Fact>
      )}
      {skippedCount !== undefined && skippedCount > 0 && (
        <Fact name="Left out">{count(skippedCount, "file")} that cannot be stored</Fact>
      )}
      {warnings.length > 0 && (
        <Fact name="Warnings">
          <span class="wrap">{warnings.map(plain).join("; ")}</span>
        </Fact>
      )}
      {leftOut !== undefined && leftOut.length > 0 && (
        <Fact name="Left out">
          <span class="wrap">{leftOut.map(plain).join(", ")}</span>
        </Fact>
      )}
    </>
  );
}
