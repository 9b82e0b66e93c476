/** Schedules: actions at fixed times, and their runs. @module */

import { api } from "../../api/client.ts";
import type { Schedule, ScheduleRun } from "../../api/types.ts";
import { Link } from "../../components/button.tsx";
import { type Column, NAME_COLUMN } from "../../components/columns.tsx";
import { ListingSection } from "../../components/listing.tsx";
import { reloadAll, useRead } from "../../components/reading.ts";
import { Reason, State, Text } from "../../components/states.tsx";
import { capital, milliseconds, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { useKinds } from "../../parts/kinds.tsx";
import { stackPath } from "../../paths.ts";
import { scheduleKinds } from "../../state/kinds.ts";
import { ScheduleForm } from "./form.tsx";
import { ResourcePage } from "../../components/resource.tsx";

const RUNS_SHOWN = 100;

export default function Schedules() {
  const schedules = useRead("GET /api/schedules", {});
  const history = useRead("GET /api/schedules/history", { query: { limit: RUNS_SHOWN } });
  const runs = history.data.value;
  const titleOf = useTitles();
  return (
    <ResourcePage
      title="Schedules"
      noun="schedule"
      reading={schedules}
      rows={schedules.data.value?.schedules}
      onChange={reloadAll(schedules, history)}
      columns={columns(runs?.history ?? [], titleOf)}
      write={["admin", "schedules:write"]}
      form={ScheduleForm}
      enable={({ id }, enabled) =>
        api("PUT /api/schedules/{id}/toggle", { path: { id }, body: { enabled } })}
      deletion={{
        consequence: ({ name, subject, ...schedule }) =>
          `The schedule ${plain(name)} (${titleOf(schedule)}: ${plain(subject)}) is deleted. ` +
          "Its history is kept.",
        work: ({ id }) => api("DELETE /api/schedules/{id}", { path: { id } }),
      }}
      defaultSort="name"
      empty={"No schedules yet. A schedule does something at fixed times, e.g. backs up a stack " +
        "every night at 03:00."}
    >
      <ListingSection
        title="Schedule history"
        columns={runColumns(titleOf)}
        rows={runs?.history}
        total={runs?.total}
        reading={history}
        hasTallRows
        empty="No schedule has run in the last 90 days."
      />
    </ResourcePage>
  );
}

type TitleOf = (plan: { kind: string; action: string }) => string;

/** Actions in words, as the service names them. */
function useTitles(): TitleOf {
  const kinds = useKinds(scheduleKinds);
  return ({ kind, action }) =>
    kinds.find(({ id }) => id === kind)?.actions.find(({ id }) => id === action)?.title ??
      capital(action);
}

/** @param runs Newest first. */
const columns = (
  runs: readonly ScheduleRun[],
  titleOf: TitleOf,
): readonly Column<Schedule>[] => [
  NAME_COLUMN,
  {
    title: "Acts on",
    cell: (schedule) => <Subject {...schedule} />,
    sort: ({ subject }) => subject,
    wide: true,
  },
  {
    title: "Action",
    cell: (schedule) => titleOf(schedule),
    sort: titleOf,
    width: "w-s",
    wide: true,
  },
  {
    title: "Cron",
    cell: ({ cronExpression, timezone }) => (
      <span class="cut" title={`${plain(cronExpression)} (${plain(timezone)})`}>
        <code>{plain(cronExpression)}</code>
      </span>
    ),
    width: "w-m",
    wide: true,
  },
  {
    title: "Next run",
    cell: ({ nextRunAt, enabled, overdueSince }) =>
      !enabled
        ? <State state="disabled" />
        : overdueSince === undefined
        ? <Time at={nextRunAt} />
        : (
          <span class="outcome">
            <State state="overdue" tone="warn" />
            <Time at={nextRunAt} />
          </span>
        ),
    sort: ({ nextRunAt }) => nextRunAt,
    width: "w-s",
  },
  {
    title: "Last run",
    cell: ({ id, lastRunAt }) => (
      <LastRun
        at={lastRunAt}
        run={runs.find(({ scheduleId }) => scheduleId === id)}
      />
    ),
    sort: ({ lastRunAt }) => lastRunAt,
    width: "w-l",
    wide: true,
  },
];

/** The container or stack with its page, or what else it acts on. */
function Subject(
  { containerName, stack, subject }: Pick<Schedule, "containerName" | "stack" | "subject">,
) {
  const page = containerName !== undefined
    ? `/containers/${encodeURIComponent(containerName)}`
    : stack !== undefined
    ? stackPath({ name: stack })
    : undefined;
  return page === undefined ? <Text>{subject}</Text> : (
    <span class="cut">
      <Link to={page}>{plain(subject)}</Link>
    </span>
  );
}

const TONES = { success: "good", failure: "bad", skipped: "idle" } as const;

const OUTCOMES = { success: "succeeded", failure: "failed", skipped: "skipped" } as const;

function Outcome({ status }: Pick<ScheduleRun, "status">) {
  return <State state={OUTCOMES[status]} tone={TONES[status]} />;
}

function LastRun({ at, run }: { at: string | null; run: ScheduleRun | undefined }) {
  if (at === null) return <span class="muted">–</span>;
  return (
    <span class="outcome" title={run?.error == null ? undefined : plain(run.error)}>
      {run && <Outcome status={run.status} />}
      <Time at={at} />
    </span>
  );
}

const runColumns = (titleOf: TitleOf): readonly Column<ScheduleRun>[] => [
  { title: "Started", cell: ({ startedAt }) => <Time at={startedAt} />, width: "w-s" },
  { title: "Schedule", cell: ({ scheduleName }) => <Text>{scheduleName}</Text> },
  { title: "Acted on", cell: (run) => <Subject {...run} />, wide: true },
  { title: "Action", cell: (run) => titleOf(run), width: "w-s", wide: true },
  {
    title: "Outcome",
    cell: ({ status, error }) => (
      <>
        <Outcome status={status} />
        <Reason>{error}</Reason>
      </>
    ),
  },
  {
    title: "Duration",
    cell: ({ startedAt, finishedAt }) =>
      milliseconds(Date.parse(finishedAt) - Date.parse(startedAt)),
    numeric: true,
    width: "w-xs",
    wide: true,
  },
];
