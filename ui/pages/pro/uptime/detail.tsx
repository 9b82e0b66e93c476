/** One monitor: its statistics, response times, outages and checks. @module */

import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Monitor, MonitorCheck, MonitorStats, UptimeStats } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Chart } from "../../../components/chart.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../../../components/facts.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Menu } from "../../../components/menu.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../../components/reading.ts";
import { Failure, State, Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { Table } from "../../../components/table.tsx";
import { duration, milliseconds, plain, uptime } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { Unavailable } from "../../../parts/unavailable.tsx";
import { navigate } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { checkNow, MONITOR_DELETION, togglePause } from "./actions.ts";
import { MonitorForm } from "./form.tsx";
import { Outages } from "./outages.tsx";
import { useResults, withChecks, withLastResult } from "./results.ts";
import { deleteItem } from "../../../components/deletion.ts";

const SHOWN_MAX = 500;

export default function MonitorDetail({ id = "" }: Record<string, string | undefined>) {
  const path = { id: decodeURIComponent(id) };
  const page = { path, query: { limit: SHOWN_MAX } };
  const monitor = useRead("GET /api/ext/service-pro/uptime/monitors/{id}", { path });
  const stats = useRead("GET /api/ext/service-pro/uptime/monitors/{id}/stats", { path });
  const checks = useRead("GET /api/ext/service-pro/uptime/monitors/{id}/checks", page);
  const outages = useRead("GET /api/ext/service-pro/uptime/monitors/{id}/incidents", page);
  const reload = reloadAll(monitor, stats, checks, outages);
  useReloadOn("monitor.", reload);
  useResults(monitor, withLastResult);
  useResults(checks, (page, results) => withChecks(page, results, path.id));
  const dialog = useDialog();

  const shown = monitor.data.value;
  const error = monitor.error.value;
  if (!shown || error?.status === 404) {
    return <Unavailable name="Monitor" list="/uptime" things="monitors" reading={monitor} />;
  }
  const edit = () => dialog.open(MonitorForm, { item: shown, onSaved: reload });
  const failed = error ?? stats.error.value;
  return (
    <Page
      title={plain(shown.name)}
      lead={<State state={shown.status} />}
      actions={<Actions monitor={shown} onChange={reload} onEdit={edit} />}
    >
      {failed && <Failure error={failed} onRetry={reload} />}
      <div class="summary-grid">
        <Section title="Monitor">
          <Settings monitor={shown} />
        </Section>
        <Section title="Statistics">
          <Statistics stats={stats.data.value?.stats} />
          {stats.data.value && <StatisticsTime stats={stats.data.value} />}
        </Section>
        <Section title="Response time" wide>
          <ResponseTimes checks={checks.data.value?.checks} />
        </Section>
        <Section title="Outages" wide>
          <Outages reading={outages} />
        </Section>
        <Section title="Checks" wide>
          <Listing
            name="Checks"
            columns={CHECK_COLUMNS}
            rows={checks.data.value?.checks}
            total={checks.data.value?.total}
            reading={checks}
            keyOf={({ checked_at: at }) => at}
            empty="Not checked yet."
          />
        </Section>
      </div>
      {dialog.shown}
    </Page>
  );
}

function Actions({ monitor, onChange, onEdit }: {
  monitor: Monitor;
  onChange: () => void;
  onEdit: () => void;
}) {
  const isBusy = useSignal(false);
  const isPaused = monitor.status === "paused";
  const check = async () => {
    isBusy.value = true;
    await checkNow(monitor);
    isBusy.value = false;
    onChange();
  };
  const toggle = () => void togglePause(monitor).then(onChange);
  return (
    <>
      {hasRole("operator", "uptime:write") && (
        <Button
          icon="restart"
          busy={isBusy.value}
          onClick={() => void check()}
        >
          Check now
        </Button>
      )}
      {hasRole("admin", "uptime:write") && (
        <>
          <Button icon={isPaused ? "play" : "pause"} onClick={toggle}>
            {isPaused ? "Resume" : "Pause"}
          </Button>
          <Menu
            name="More actions"
            items={() => [
              { name: "Edit", onSelect: onEdit },
              deleteItem(monitor, MONITOR_DELETION, () => navigate("/uptime")),
            ]}
          />
        </>
      )}
    </>
  );
}

function Settings({ monitor }: { monitor: Monitor }) {
  return (
    <Facts>
      <Fact name="Target">
        <span class="target">
          <span class="muted">{monitor.type.toUpperCase()}</span> <Text>{monitor.url}</Text>
        </span>
      </Fact>
      {monitor.type === "http" && (
        <Fact name="Expected">
          {monitor.method}, status {monitor.expected_status}
          {monitor.keyword !== null && <>, with the text “{plain(monitor.keyword)}”</>}
        </Fact>
      )}
      {monitor.type === "dns" && (
        <Fact name="Expected">
          {monitor.record_type} record {monitor.expected !== null && plain(monitor.expected)}
        </Fact>
      )}
      <Fact name="Interval">
        {duration(monitor.interval_seconds)}, timeout {milliseconds(monitor.timeout_ms)},{" "}
        {monitor.retries} {monitor.retries === 1 ? "retry" : "retries"}
      </Fact>
      <TimeFact name="Last check" at={monitor.last_checked_at} />
      <Fact name="Incidents">{monitor.auto_incident ? "Opened automatically" : "Not opened"}</Fact>
    </Facts>
  );
}

const PERIODS = [["24 h", "24h"], ["7 d", "7d"], ["30 d", "30d"]] as const;

interface Statistic extends UptimeStats {
  period: string;
}

const STATISTIC_COLUMNS: readonly Column<Statistic>[] = [
  { title: "Period", cell: ({ period }) => period, width: "w-xs" },
  { title: "Uptime", cell: ({ uptime_percent: value }) => uptime(value), numeric: true },
  {
    title: "Downtime",
    cell: ({ total_downtime_seconds: seconds }) => seconds === 0 ? "–" : duration(seconds),
    numeric: true,
  },
  {
    title: "Average",
    cell: ({ avg_response_time_ms: ms }) => milliseconds(ms),
    numeric: true,
    wide: true,
  },
  {
    title: "p95",
    cell: ({ p95_response_time_ms: ms }) => milliseconds(ms),
    numeric: true,
    wide: true,
  },
  {
    title: "Checks",
    cell: ({ total_checks: total }) => total.toLocaleString("en"),
    numeric: true,
    wide: true,
  },
];

function Statistics({ stats }: { stats: Record<"24h" | "7d" | "30d", UptimeStats> | undefined }) {
  return (
    <Table
      name="Statistics"
      columns={STATISTIC_COLUMNS}
      rows={stats ? PERIODS.map(([period, key]) => ({ ...stats[key], period })) : []}
      keyOf={({ period }) => period}
      busy={!stats}
    />
  );
}

/**
 * Statistics are not part of the results, because they cost more than a check. The page reads them
 * again when a monitor goes down or recovers.
 */
function StatisticsTime({ stats }: { stats: MonitorStats }) {
  const at = useMemo(() => new Date().toISOString(), [stats]);
  return (
    <p class="newest muted">
      As of <Time at={at} />
    </p>
  );
}

function ResponseTimes({ checks }: { checks: readonly MonitorCheck[] | undefined }) {
  const series = useMemo(() => {
    const oldestFirst = (checks ?? []).toReversed();
    return {
      times: oldestFirst.map(({ checked_at: at }) => Date.parse(at) / 1000),
      values: oldestFirst.map(({ response_time_ms: ms }) => ms),
    };
  }, [checks]);
  return (
    <Chart
      name={`Response time, last ${series.times.length} checks`}
      times={series.times}
      series={[{ name: "Response time", values: series.values }]}
      format={milliseconds}
    />
  );
}

const CHECK_COLUMNS: readonly Column<MonitorCheck>[] = [
  { title: "Time", cell: ({ checked_at: at }) => <Time at={at} />, width: "w-s" },
  { title: "Status", cell: ({ status }) => <State state={status} />, width: "w-s" },
  {
    title: "Response time",
    cell: ({ response_time_ms: ms }) => milliseconds(ms),
    numeric: true,
    width: "w-s",
  },
  {
    title: "Code",
    cell: ({ status_code: code }) => code ?? "–",
    numeric: true,
    width: "w-xs",
    wide: true,
  },
  { title: "Error", cell: ({ error }) => <Text>{error}</Text>, wide: true },
];
