/**
 * Past updates and rollbacks, of containers, stacks and Longshore itself: how each ended, its steps,
 * and what failed containers left behind.
 *
 * @module
 */

import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Job, JobKind } from "../../api/types.ts";
import { Button, Link } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { type Evidence, EvidenceList } from "../../parts/evidence.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JobStatus, JobSteps } from "../../parts/job_steps.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { bytes, capital, count, milliseconds, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { shortId, snapshotPath } from "../backups/snapshot_text.ts";
import { rollBack } from "./roll_back.tsx";

/** Jobs that are listed. */
const SHOWN = 20;

/** Snapshots of an update that kept data. */
interface KeptData {
  target: string;
  /** Ids. */
  before: string;
  written: string | null;
  /** Files that it lacks. */
  skippedCount?: number;
  /** In bytes. */
  size: number;
}

/** The results of these kinds. Only what a container's job changed has an image. */
interface Outcome {
  container?: string;
  id?: string;
  image?: string;
  updated?: boolean;
  reason?: string;
  downtimeMs?: number | null;
  /** Of the containers of a stack. */
  results?: readonly { updated: boolean; data?: KeptData | null }[];
  /** Of a container, or of those of a stack that returned. */
  data?: KeptData | readonly KeptData[] | null;
  /** Of Longshore. */
  version?: string;
  previousVersion?: string | null;
  evidence?: readonly Evidence[];
}

/** `null` for a job that ended before it changed anything. */
const outcomeOf = ({ result }: Job): Outcome | null => result as Outcome | null;

function Result({ job }: { job: Job }) {
  const isSame = job.status === "succeeded" && outcomeOf(job)?.updated === false;
  return <JobStatus status={job.status} {...(isSame && { name: "Already up to date" })} />;
}

const nameOf = (job: Job): string => outcomeOf(job)?.container ?? job.target;

/** E.g. `rollback of web`. */
const describe = (job: Job, kinds: readonly JobKind[]): string =>
  `${titleOf(job, kinds).toLowerCase()} of ${nameOf(job)}`;

const titleOf = ({ kind }: Job, kinds: readonly JobKind[]): string =>
  kinds.find(({ id }) => id === kind)?.title ?? kind;

function reasonOf(job: Job): string {
  const outcome = outcomeOf(job);
  if (job.error !== null) return job.error;
  if (outcome?.version !== undefined) {
    return `From ${outcome.previousVersion} to ${outcome.version}`;
  }
  if (outcome?.results) {
    const updated = outcome.results.filter(({ updated }) => updated).length;
    return `${updated} of ${count(outcome.results.length, "container")} updated`;
  }
  return outcome?.reason ?? "";
}

const columns = (kinds: readonly JobKind[]): readonly Column<Job>[] => [
  {
    title: "Name",
    cell: (job) => (
      <>
        <Text>{nameOf(job)}</Text>
        {reasonOf(job) !== "" && <p class="hint narrow-only">{plain(reasonOf(job))}</p>}
      </>
    ),
    sort: nameOf,
    width: "w-l",
  },
  textColumn("Kind", (job) => titleOf(job, kinds), { wide: true, width: "w-m" }),
  {
    title: "Result",
    cell: (job) => <Result job={job} />,
    sort: ({ status }) => status,
    width: "w-l",
  },
  {
    title: "Reason",
    cell: (job) => <span class="cut breaks">{plain(reasonOf(job))}</span>,
    wide: true,
  },
  timeColumn("Ended", ({ endedAt }) => endedAt, { wide: true, width: "w-m" }),
];

/**
 * Nothing before the first update.
 *
 * @param props.active Number of jobs in progress; the list is read again when it changes.
 */
export function UpdateHistory({ kinds, active }: { kinds: readonly JobKind[]; active: number }) {
  const listed = kinds.filter(({ isListed }) => isListed).map(({ id }) => id);
  const { data, reload } = useRead(
    "GET /api/jobs",
    listed.length === 0 ? undefined : { query: { kind: listed, limit: SHOWN } },
  );
  useEffect(reload, [active]);
  const open = useSignal<Job | undefined>(undefined);
  const ended = data.value?.jobs.filter(({ endedAt }) => endedAt !== null);
  if (!ended?.length) return null;
  return (
    <Section title="History" wide>
      <Table
        name="Past updates"
        columns={columns(kinds)}
        rows={ended}
        keyOf={({ id }) => id}
        nameOf={(job) => `the ${describe(job, kinds)}`}
        actions={(job) => [
          { name: "Details", onSelect: () => open.value = job },
          ...(canRollBack(job)
            ? [{ name: "Roll back", danger: true, onSelect: () => void rollBack(containerOf(job)) }]
            : []),
        ]}
        defaultSort="-ended"
      />
      {open.value && (
        <JobDialog
          job={open.value}
          kinds={kinds}
          onClose={() => open.value = undefined}
        />
      )}
    </Section>
  );
}

const containerOf = (job: Job) => ({
  id: outcomeOf(job)!.id!,
  name: nameOf(job),
  hasData: keptBy(job).length > 0,
});

/** The data of one container, or of those of a stack. */
function keptBy(job: Job): readonly KeptData[] {
  const { data, results = [] } = outcomeOf(job) ?? {};
  return data ? [data].flat() : results.flatMap((each) => each.data ?? []);
}

const canRollBack = (job: Job): boolean =>
  hasRole("operator", "containers:update") && job.status === "succeeded" &&
  outcomeOf(job)?.updated === true;

/** Only admins can browse snapshots. */
const SnapshotLink = (snapshot: { id: string; target: string }) => {
  const shown = shortId(snapshot.id);
  return hasRole("admin", "backup:write")
    ? <Link to={snapshotPath(snapshot)}>{shown}</Link>
    : <>{shown}</>;
};

export function JobDialog({ job, kinds, onClose }: {
  job: Job;
  kinds: readonly JobKind[];
  onClose: () => void;
}) {
  const { image, downtimeMs, evidence = [] } = outcomeOf(job) ?? {};
  const reason = reasonOf(job);
  return (
    <Dialog title={plain(capital(describe(job, kinds)))} onClose={onClose} wide>
      <Facts>
        <Fact name="Result">
          <Result job={job} />
        </Fact>
        <Fact name="Ended">
          <Time at={job.endedAt} />
        </Fact>
        {image !== undefined && (
          <Fact name="Image">
            <span class="wrap">{plain(image)}</span>
          </Fact>
        )}
        {reason !== "" && <Fact name="Reason">{plain(reason)}</Fact>}
        {downtimeMs != null && <Fact name="Downtime">{milliseconds(downtimeMs)}</Fact>}
        {keptBy(job).map(({ before, written, skippedCount = 0, size, target }) => (
          <Fact key={before} name="Data">
            Before: snapshot <SnapshotLink id={before} target={target} />, {bytes(size)}
            {written !== null && (
              <>
                ; written by the new version: snapshot <SnapshotLink id={written} target={target} />
                {skippedCount > 0 &&
                  `, without ${count(skippedCount, "file")} that cannot be stored`}
              </>
            )}
            ; at {plain(target)}
          </Fact>
        ))}
      </Facts>
      {job.steps.length > 0 && (
        <>
          <h3>Steps</h3>
          <JobSteps
            steps={job.steps}
            names={kinds.find(({ id }) => id === job.kind)?.steps ?? {}}
          />
        </>
      )}
      <EvidenceList evidence={evidence} />
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
