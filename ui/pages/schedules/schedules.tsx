/** Schedules: container actions at fixed times, and their runs. @module */

import { api } from "../../api/client.ts";
import type { Schedule, ScheduleRun } from "../../api/types.ts";
import { Link } from "../../components/button.tsx";
import { type Column, NAME_COLUMN } from "../../components/columns.tsx";
import { ListingSection } from "../../components/listing.tsx";
import { reloadAll, useRead } from "../../components/reading.ts";
import { Reason, State, Text } from "../../components/states.tsx";
import { capital, milliseconds, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { ScheduleForm } from "./form.tsx";
import { ResourcePage } from "../../components/resource.tsx";

const RUNS_SHOWN = 100;

export default function Schedules() {
  const schedules = useRead("GET /api/schedules", {});
  const history = useRead("GET /api/schedules/history", { query: { limit: RUNS_SHOWN } });
  const runs = history.data.value;
  return (
    <ResourcePage
      title="Schedules"
      noun="schedule"
      reading={schedules}
      rows={schedules.data.value?.schedules}
      onChange={reloadAll(schedules, history)}
      columns={columns(runs?.history ?? [])}
      write={["admin", "schedules:write"]}
      form={ScheduleForm}
      enable={({ id }, enabled) =>
        api("PUT /api/schedules/{id}/toggle", { path: { id }, body: { enabled } })}
      deletion={{
        consequence: ({ name, action, containerName }) =>
          `The schedule ${plain(name)} is deleted and does not ${action} ` +
          `${plain(containerName)} any more. Its history is kept.`,
        work: ({ id }) => api("DELETE /api/schedules/{id}", { path: { id } }),
      }}
      defaultSort="name"
      empty={"No schedules yet. A schedule starts, stops or restarts a container at fixed times, " +
        "e.g. every night at 03:00."}
    >
      <ListingSection
        title="Schedule history"
        columns={RUN_COLUMNS}
        rows={runs?.history}
        total={runs?.total}
        reading={history}
        hasTallRows
        empty="No schedule has run in the last 90 days."
      />
    </ResourcePage>
  );
}

/** @param runs Newest first. */
const columns = (
  runs: readonly ScheduleRun[],
): readonly Column<Schedule>[] => [
  NAME_COLUMN,
  {
    title: "Container",
    cell: ({ containerName }) => <ContainerLink name={containerName} />,
    sort: ({ containerName }) => containerName,
    wide: true,
  },
  {
    title: "Action",
    cell: ({ action }) => capital(action),
    sort: ({ action }) => action,
    width: "w-xs",
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
    cell: ({ nextRunAt, enabled }) =>
      enabled ? <Time at={nextRunAt} /> : <State state="disabled" />,
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

function ContainerLink({ name }: { name: string }) {
  return (
    <span class="cut">
      <Link to={`/containers/${encodeURIComponent(name)}`}>{plain(name)}</Link>
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

const RUN_COLUMNS: readonly Column<ScheduleRun>[] = [
  { title: "Started", cell: ({ startedAt }) => <Time at={startedAt} />, width: "w-s" },
  { title: "Schedule", cell: ({ scheduleName }) => <Text>{scheduleName}</Text> },
  {
    title: "Container",
    cell: ({ containerName }) => <ContainerLink name={containerName} />,
    wide: true,
  },
  { title: "Action", cell: ({ action }) => capital(action), width: "w-xs", wide: true },
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
