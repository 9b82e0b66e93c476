/** Alerts: the rules, and when they fired. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { AlertEvent, AlertRule } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { enabledColumn, textColumn, timeColumn } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { History, Listing } from "../../components/listing.tsx";
import { Page, Section } from "../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../components/reading.ts";
import { Failure, State } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { ActiveAlerts, AlertName, Inhibition, WithSeverity } from "./active.tsx";
import { RuleForm } from "./form.tsx";
import { Silences } from "./silences.tsx";
import { Templates } from "./templates.tsx";
import { conditionOf, valueOf } from "./words.ts";

const EVENTS_SHOWN = 100;

export default function Alerts() {
  const rules = useRead("GET /api/alerts/rules", {});
  const active = useRead("GET /api/alerts/active", {});
  const history = useRead("GET /api/alerts/events", { query: { limit: EVENTS_SHOWN } });
  const silences = useRead("GET /api/silences", {});
  const reload = reloadAll(rules, active, history, silences);
  useReloadOn("alert.", reload);
  const dialog = useDialog();
  const edit = (rule?: AlertRule) => dialog.open(RuleForm, { rule, onSaved: reload });
  const all = rules.data.value?.rules;
  const isChoosing = useSignal(false);
  const hasTemplates = hasRole("admin", "alerts:write") && (isChoosing.value || all?.length === 0);
  const create = hasRole("admin", "alerts:write") && (
    <>
      {!hasTemplates && <Button onClick={() => isChoosing.value = true}>Templates</Button>}
      <Button kind="primary" icon="plus" onClick={() => edit()}>
        New alert rule
      </Button>
    </>
  );
  const past = history.data.value;
  return (
    <Page title="Alerts" actions={create}>
      <div class="stacked">
        {active.error.value
          ? <Failure error={active.error.value} onRetry={active.reload} />
          : <ActiveAlerts alerts={active.data.value?.alerts ?? []} onChange={reload} />}
        <Section title="Alert rules">
          <Listing
            name="Alert rules"
            columns={columns(reload)}
            rows={all}
            error={rules.error.value}
            onRetry={reload}
            actionsFor={["admin", "alerts:write"]}
            actions={(rule) => [
              { name: "Edit", onSelect: () => edit(rule) },
              deleteItem(() => remove(rule), reload),
            ]}
            defaultSort="name"
            hasTallRows
            empty={"No alert rules yet. A rule fires when a value of the host or of a container passes " +
              "a threshold, or when a container stops or becomes unhealthy."}
          />
        </Section>
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
      <History
        title="Alert history"
        columns={EVENT_COLUMNS}
        rows={past?.events}
        total={past?.total}
        error={history.error.value}
        onRetry={history.reload}
        hasTallRows
        empty="No alert has fired in the last 90 days."
      />
      {dialog.shown}
    </Page>
  );
}

const columns = (onChange: () => void): readonly Column<AlertRule>[] => [
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
  textColumn("Condition", conditionOf, { wide: true }),
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
  enabledColumn(
    "alerts:write",
    ({ id }, enabled) =>
      api("PUT /api/alerts/rules/{id}/toggle", { path: { id }, body: { enabled } }),
    onChange,
  ),
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
    cell: ({ metric, value }) => valueOf(metric, value),
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

const remove = ({ id, name, state }: AlertRule) =>
  deleteConfirmed(
    name,
    `The alert rule ${plain(name)} is deleted` +
      `${state === "firing" ? ", and its firing alert is resolved" : ""}. Its history is kept.`,
    () => api("DELETE /api/alerts/rules/{id}", { path: { id } }),
  );
