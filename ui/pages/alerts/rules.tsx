/** Alerts: the rules, and when they fired. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { AlertEvent, AlertRule } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { ListingSection } from "../../components/listing.tsx";
import { Page, Section } from "../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../components/reading.ts";
import { Failure, State } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { ActiveAlerts, AlertName, Inhibition, WithSeverity } from "./active.tsx";
import { RuleForm } from "./form.tsx";
import { Silences } from "./silences.tsx";
import { Templates } from "./templates.tsx";
import { withTarget } from "./rule_text.ts";
import { useResource } from "../../components/resource.tsx";

const EVENTS_SHOWN = 100;

export default function Alerts() {
  const rules = useRead("GET /api/alerts/rules", {});
  const active = useRead("GET /api/alerts/active", {});
  const history = useRead("GET /api/alerts/events", { query: { limit: EVENTS_SHOWN } });
  const silences = useRead("GET /api/silences", {});
  const reload = reloadAll(rules, active, history, silences);
  useReloadOn("alert.", reload);
  const all = rules.data.value?.rules;
  const isChoosing = useSignal(false);
  const hasTemplates = hasRole("admin", "alerts:write") && (isChoosing.value || all?.length === 0);
  const past = history.data.value;
  const { newButton, list, dialog } = useResource({
    title: "Alert rules",
    noun: "alert rule",
    reading: rules,
    rows: all,
    onChange: reload,
    columns: COLUMNS,
    write: ["admin", "alerts:write"],
    form: RuleForm,
    enable: ({ id }, enabled) =>
      api("PUT /api/alerts/rules/{id}/toggle", { path: { id }, body: { enabled } }),
    deletion: {
      consequence: ({ name, state }) =>
        `The alert rule ${plain(name)} is deleted` +
        `${state === "firing" ? ", and its firing alert is resolved" : ""}. Its history is kept.`,
      work: ({ id }) => api("DELETE /api/alerts/rules/{id}", { path: { id } }),
    },
    defaultSort: "name",
    hasTallRows: true,
    empty: "No alert rules yet. A rule fires when a value of the host or of a container passes " +
      "a threshold, or when a container stops or becomes unhealthy.",
  });
  return (
    <Page
      title="Alerts"
      actions={hasRole("admin", "alerts:write") && (
        <>
          {!hasTemplates && <Button onClick={() => isChoosing.value = true}>Templates</Button>}
          {newButton("primary")}
        </>
      )}
    >
      <div class="stacked">
        {active.error.value
          ? <Failure error={active.error.value} onRetry={active.reload} />
          : <ActiveAlerts alerts={active.data.value?.alerts ?? []} onChange={reload} />}
        <Section title="Alert rules">{list}</Section>
        {hasTemplates && all && (
          <Templates
            rules={all}
            onCreated={() => {
              // They stay after the list got its first rule.
              isChoosing.value = true;
              reload();
            }}
            onClose={() => isChoosing.value = false}
          />
        )}
        <Silences reading={silences} />
      </div>
      <ListingSection
        title="Alert history"
        columns={EVENT_COLUMNS}
        rows={past?.events}
        total={past?.total}
        reading={history}
        hasTallRows
        empty="No alert has fired in the last 90 days."
      />
      {dialog}
    </Page>
  );
}

const COLUMNS: readonly Column<AlertRule>[] = [
  {
    title: "Name",
    cell: ({ name, severity, enabled, problem }) => (
      // Why it has no data must not need a pointer that hovers.
      <WithSeverity name={name} severity={severity}>
        {enabled && problem !== null && plain(problem)}
      </WithSeverity>
    ),
    sort: ({ name }) => name,
  },
  textColumn("Condition", ({ condition, scope }) => withTarget(condition, scope), { wide: true }),
  {
    title: "State",
    cell: (rule) => (
      <>
        <RuleState {...rule} />
        {rule.enabled && <Inhibition {...rule} />}
      </>
    ),
    sort: ({ state, enabled }) => enabled ? ORDER.indexOf(state) : ORDER.length,
    width: "w-s",
  },
  timeColumn("Last fired", ({ lastFiredAt }) => lastFiredAt, { width: "w-m", wide: true }),
];

const ORDER: readonly AlertRule["state"][] = ["firing", "pending", "no_data", "ok"];

function RuleState({ state, enabled, problem }: AlertRule) {
  if (!enabled) return <State state="disabled" tone="idle" />;
  switch (state) {
    case "firing":
      return <State state={state} tone="bad" />;
    case "pending":
      return <State state={state} tone="warn" />;
    case "no_data":
      return <State state="no data" tone="warn" />;
    case "ok":
      return problem === null
        ? <State state="OK" tone="good" />
        : <State state="waiting" tone="idle" />;
  }
}

const EVENT_COLUMNS: readonly Column<AlertEvent>[] = [
  { title: "Rule", cell: (event) => <AlertName {...event} /> },
  {
    title: "Value",
    cell: ({ valueText }) => valueText,
    numeric: true,
    width: "w-s",
    wide: true,
  },
  { title: "Fired", cell: ({ firedAt }) => <Time at={firedAt} />, width: "w-s" },
  {
    title: "Resolved",
    cell: ({ resolvedAt }) =>
      resolvedAt === null ? <State state="firing" tone="bad" /> : <Time at={resolvedAt} />,
    width: "w-s",
  },
];
