/**
 * One SLA: its current period, burn rate, former periods and breaches.
 *
 * @module
 */

import type { SlaPeriod, SlaReport } from "../../api/types.ts";
import { Chart } from "../../components/chart.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Menu } from "../../components/menu.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Badge, Failure, State } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { capital, count, duration, plain, plainLines, uptime } from "../../components/text.ts";
import { Unavailable } from "../../components/unavailable.tsx";
import { navigate } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { slaActions } from "./actions.ts";
import { Breaches } from "./breaches.tsx";
import { BudgetLeft, minutes } from "./budget.tsx";
import { SlaForm } from "./form.tsx";

export default function SlaDetail({ id = "" }: Record<string, string | undefined>) {
  const reading = useRead("GET /api/ext/service-pro/sla/definitions/{id}/report", {
    path: { id: decodeURIComponent(id) },
  });
  const { data, error, reload } = reading;
  useReloadOn("sla.", reload);
  const dialog = useDialog();
  const report = data.value;
  if (!report || error.value?.status === 404) {
    return <Unavailable name="SLA" list="/sla" things="SLAs" reading={reading} />;
  }
  const { definition, current_status: status } = report;
  const edit = () => dialog.open(SlaForm, { sla: definition, onSaved: reload });
  const actions = hasRole("admin", "sla:write") && (
    <Menu
      name="More actions"
      items={() =>
        slaActions(definition, {
          onChange: reload,
          onEdit: edit,
          onDelete: () => navigate("/sla"),
        })}
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
          <Breaches breaches={report.breaches} onRetry={reload} />
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
          {uptime(period.actual_uptime)} of {definition.target_uptime} %
        </Fact>
        <Fact name="Budget left">
          <BudgetLeft budget={budget} />
        </Fact>
        <Fact name="Downtime">
          {minutes(budget.used_minutes)} of {minutes(budget.total_budget_minutes)}
        </Fact>
        <Fact name="Monitors">{count(definition.monitor_ids.length, "monitor")}</Fact>
        <Fact name="Known time">{uptime(period.coverage_percent)}</Fact>
      </Facts>
    </>
  );
}

function BurnRate({ report: { burn_rate_chart: days } }: { report: SlaReport }) {
  return (
    <>
      <Chart
        name="Burn rate, current period"
        times={days.map(({ date }) => Date.parse(date) / 1000)}
        series={[{ name: "Burn rate", values: days.map((day) => day.burn_rate) }]}
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
