/** One SLA: its current period, burn rate, former periods and breaches. @module */

import { Fragment } from "preact";
import type { SlaPeriod, SlaReport } from "../../../api/types.ts";
import { Link } from "../../../components/button.tsx";
import { Chart } from "../../../components/chart.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Fact, Facts } from "../../../components/facts.tsx";
import { Menu } from "../../../components/menu.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { Badge, Failure, State } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { Table } from "../../../components/table.tsx";
import { capital, count, duration, plain, plainLines, uptime } from "../../../base/text.ts";
import { Unavailable } from "../../../parts/unavailable.tsx";
import { navigate } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { recalculateItem, SLA_DELETION } from "./actions.ts";
import { Breaches } from "./breaches.tsx";
import { BudgetLeft, minutes } from "./budget.tsx";
import { SlaForm } from "./form.tsx";
import { deleteItem } from "../../../components/deletion.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export default function SlaDetail({ id = "" }: Record<string, string | undefined>) {
  const reading = useRead("GET /api/ext/service-pro/sla/definitions/{id}/report", {
    path: { id: decodeURIComponent(id) },
  });
  const { data, error, reload } = reading;
  useReloadOn("sla.", reload);
  useReloadOn("monitor.", reload);
  const dialog = useDialog();
  const report = data.value;
  if (!report || error.value?.status === 404) {
    return <Unavailable name="SLA" list="/sla" things="SLAs" reading={reading} />;
  }
  const { definition, current_status: status } = report;
  const edit = () => dialog.open(SlaForm, { item: definition, onSaved: reload });
  const actions = hasRole("admin", "sla:write") && (
    <Menu
      name="More actions"
      items={() => [
        recalculateItem(definition, reload),
        { name: "Edit", onSelect: edit },
        deleteItem(definition, SLA_DELETION, () => navigate("/sla")),
      ]}
    />
  );
  return (
    <Page
      title={plain(definition.name)}
      lead={status.budget.is_breached
        ? <Badge tone="bad">Breached</Badge>
        : <Badge tone="good">Within budget</Badge>}
      actions={actions}
    >
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <div class="summary-grid">
        <Section title="Current period">
          <CurrentPeriod report={report} />
        </Section>
        <Section title="Burn rate">
          <BurnRate report={report} />
        </Section>
        <Section title="Periods" wide>
          <Table
            name="Periods"
            columns={PERIOD_COLUMNS}
            rows={report.periods}
            keyOf={(period) => period.id}
          />
        </Section>
        <Section title="Breaches" wide>
          <Breaches
            breaches={report.breaches}
            reading={{ error: { value: undefined }, reload }}
          />
        </Section>
      </div>
      {dialog.shown}
    </Page>
  );
}

function CurrentPeriod({ report: { definition, current_status: { period, budget } } }: {
  report: SlaReport;
}) {
  return (
    <>
      {definition.description !== "" && <p class="message">{plainLines(definition.description)}</p>}
      <Facts>
        <Fact name="Period">
          {period.start_date} to {period.end_date}
        </Fact>
        <Fact name="Uptime">
          {period.actual_uptime === null ? "Not known yet" : uptime(period.actual_uptime)}, target
          {" "}
          {definition.target_uptime} %
        </Fact>
        <Fact name="Budget left">
          <BudgetLeft budget={budget} />
        </Fact>
        <Fact name="Downtime">
          {minutes(budget.used_minutes)} of {minutes(budget.total_budget_minutes)}
        </Fact>
        <Fact name="Monitors">
          <Monitors ids={definition.monitor_ids} />
        </Fact>
        <Fact name="Known time">{uptime(period.coverage_percent)}</Fact>
      </Facts>
    </>
  );
}

/** Links to the monitors that the SLA measures. */
function Monitors({ ids }: { ids: readonly string[] }) {
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {}).data.value?.monitors;
  if (!monitors) return <>{count(ids.length, "monitor")}</>;
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  return (
    <>
      {ids.map((id, at) => (
        <Fragment key={id}>
          {at > 0 && ", "}
          {names.has(id)
            ? <Link to={`/uptime/${encodeURIComponent(id)}`}>{plain(names.get(id)!)}</Link>
            : "deleted monitor"}
        </Fragment>
      ))}
    </>
  );
}

/** From 0 at the start of the period, with the rate at the end of each day, and the one of now. */
function BurnRate({ report: { burn_rate_chart: days, current_status: { period } } }: {
  report: SlaReport;
}) {
  const now = Date.parse(period.calculated_at);
  const ends = days.map(({ date }) => Math.min(Date.parse(date) + DAY_MS, now));
  return (
    <>
      <Chart
        name="Burn rate, current period"
        times={[Date.parse(period.start_date), ...ends].map((at) => at / 1000)}
        series={[{ name: "Burn rate", values: [0, ...days.map((day) => day.burn_rate)] }]}
        format={(value) => value === null ? "–" : String(Math.round(value * 100) / 100)}
      />
      <p class="muted">At 1, the budget lasts exactly until the end of the period.</p>
    </>
  );
}

const PERIOD_COLUMNS: readonly Column<SlaPeriod>[] = [
  { title: "Period", cell: ({ start_date: start, end_date: end }) => `${start} to ${end}` },
  {
    title: "Target",
    cell: ({ target_uptime: target }) => `${target} %`,
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Uptime",
    cell: ({ actual_uptime: actual }) => uptime(actual),
    numeric: true,
    width: "w-s",
  },
  {
    title: "Downtime",
    cell: ({ total_downtime_seconds: seconds }) => seconds === 0 ? "–" : duration(seconds),
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Known time",
    cell: ({ coverage_percent: known }) => uptime(known),
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Status",
    cell: ({ is_breached: isBreached, status }) =>
      isBreached
        ? <State state="breached" tone="bad" />
        : <State state={capital(status)} tone={status === "current" ? "busy" : "good"} />,
    width: "w-m",
  },
];
