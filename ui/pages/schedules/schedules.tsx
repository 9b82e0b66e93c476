/** Schedules: container actions at fixed times, and their runs. @module */

import { api } from "../../api/client.ts";
import type { Schedule, ScheduleRun } from "../../api/types.ts";
import { Button, Link } from "../../components/button.tsx";
import { enabledColumn, NAME_COLUMN } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { History, Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { reloadAll, useRead } from "../../components/reading.ts";
import { Reason, State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { capital, milliseconds, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { ScheduleForm } from "./form.tsx";

const RUNS_SHOWN = 100;

export default function Schedules() {
  const schedules = useRead("GET /api/schedules", {});
  const history = useRead("GET /api/schedules/history", { query: { limit: RUNS_SHOWN } });
  const reload = reloadAll(schedules, history);
  const all = schedules.data.value?.schedules;
  const runs = history.data.value;
  const dialog = useDialog();
  const edit = (schedule?: Schedule) => dialog.open(ScheduleForm, { schedule, onSaved: reload });
  const create = hasRole("admin", "schedules:write") && (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => edit()}
    >
      New schedule
    </Button>
  );
  return (
    <Page title="Schedules" actions={create}>
      <Listing
        name="Schedules"
        columns={columns(runs?.history ?? [], reload)}
        rows={all}
        error={schedules.error.value}
        onRetry={reload}
        actionsFor={["admin", "schedules:write"]}
        actions={(schedule) => [
          { name: "Edit", onSelect: () => edit(schedule) },
          deleteItem(() => remove(schedule), reload),
        ]}
        defaultSort="name"
        empty={"No schedules yet. A schedule starts, stops or restarts a container at fixed times, " +
          "e.g. every night at 03:00."}
      />
      <History
        title="Schedule history"
        columns={RUN_COLUMNS}
        rows={runs?.history}
        total={runs?.total}
        error={history.error.value}
        onRetry={history.reload}
        hasTallRows
        empty="No schedule has run in the last 90 days."
      />
      {dialog.shown}
    </Page>
  );
}

/** @param runs Newest first. */
const columns = (
  runs: readonly ScheduleRun[],
  onChange: () => void,
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
  enabledColumn(
    "schedules:write",
    ({ id }, enabled) => api("PUT /api/schedules/{id}/toggle", { path: { id }, body: { enabled } }),
    onChange,
  ),
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

const remove = ({ id, name, action, containerName }: Schedule) =>
  deleteConfirmed(
    name,
    `The schedule ${plain(name)} is deleted and does not ${action} ` +
      `${plain(containerName)} any more. Its history is kept.`,
    () => api("DELETE /api/schedules/{id}", { path: { id } }),
  );
