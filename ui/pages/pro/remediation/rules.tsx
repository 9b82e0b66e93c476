/** Remediation: rules that act on containers by themselves, and what they did. @module */

import { api } from "../../../api/client.ts";
import type { RemediationRule, RemediationRun } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { enabledColumn, NAME_COLUMN } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { History, Listing } from "../../../components/listing.tsx";
import { Page } from "../../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../../components/reading.ts";
import { State, Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { capital, count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { hasRole } from "../../../state/session.ts";
import { conditionText } from "../../../parts/conditions.ts";
import { METRICS, RuleForm } from "./form.tsx";

const RUNS_SHOWN = 100;

const columns = (onChange: () => void): readonly Column<RemediationRule>[] => [
  NAME_COLUMN,
  {
    title: "Condition",
    cell: (rule) => <Text>{conditionOf(rule)}</Text>,
    sort: ({ condition_metric: metric }) => metric,
    wide: true,
  },
  {
    title: "Action",
    cell: ({ action_type: action, action_target: target }) => (
      <Text>{`${capital(action)} ${target}`}</Text>
    ),
    sort: ({ action_target: target }) => target,
    wide: true,
  },
  {
    title: "Last triggered",
    cell: ({ last_triggered_at: at, trigger_count: times }) => (
      <span title={`Triggered ${count(times, "time")}`}>
        <Time at={at} />
      </span>
    ),
    sort: ({ last_triggered_at: at }) => at,
    width: "w-m",
  },
  enabledColumn(
    "remediation:write",
    ({ id }, enabled) =>
      api("PUT /api/ext/service-pro/remediation/rules/{id}/toggle", {
        path: { id },
        body: { enabled },
      }),
    onChange,
  ),
];

export default function Remediation() {
  const rules = useRead("GET /api/ext/service-pro/remediation/rules", {});
  const { data, error, reload } = rules;
  const history = useRead("GET /api/ext/service-pro/remediation/history", {
    query: { limit: RUNS_SHOWN },
  });
  useReloadOn("remediation.", reloadAll(rules, history));
  const dialog = useDialog();
  const edit = (rule?: RemediationRule) => dialog.open(RuleForm, { rule, onSaved: reload });
  const create = hasRole("admin", "remediation:write") && (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => edit()}
    >
      New rule
    </Button>
  );
  const runs = history.data.value;
  return (
    <Page title="Remediation" actions={create}>
      <Listing
        name="Remediation rules"
        columns={columns(reload)}
        rows={data.value?.rules}
        error={error.value}
        onRetry={reload}
        actionsFor={["admin", "remediation:write"]}
        actions={(rule) => [
          { name: "Edit", onSelect: () => edit(rule) },
          deleteItem(() => remove(rule), reload),
        ]}
        defaultSort="name"
        empty={"No rules yet. A rule starts, stops or restarts a container when a condition holds, " +
          "e.g. when the container is down."}
      />
      <History
        title="History"
        name="Remediation history"
        columns={RUN_COLUMNS}
        rows={runs?.history}
        total={runs?.total}
        error={history.error.value}
        onRetry={history.reload}
        empty="No rule has acted in the last 90 days."
      />
      {dialog.shown}
    </Page>
  );
}

/** E.g. "Container is down for 1 min", "Host CPU ≥ 90 %". */
const conditionOf = (rule: RemediationRule): string =>
  conditionText(
    METRICS[rule.condition_metric],
    rule.condition_operator,
    rule.condition_threshold,
    rule.condition_duration,
  );

const remove = ({ id, name }: RemediationRule) =>
  deleteConfirmed(
    name,
    `The rule ${plain(name)} is deleted. Its history is kept.`,
    () => api("DELETE /api/ext/service-pro/remediation/rules/{id}", { path: { id } }),
  );

const RUN_TONES = { success: "good", failure: "bad", skipped: "idle" } as const;

const RUN_COLUMNS: readonly Column<RemediationRun>[] = [
  { title: "Time", cell: ({ started_at: at }) => <Time at={at} />, width: "w-s" },
  { title: "Rule", cell: ({ rule_name: name }) => <Text>{name}</Text> },
  {
    title: "Value",
    cell: ({ metric_value: value }) => value === null ? "–" : Math.round(value * 100) / 100,
    numeric: true,
    width: "w-xs",
    wide: true,
  },
  {
    title: "Action",
    cell: ({ action_type: action, action_target: target }) => (
      <Text>{`${capital(action)} ${target}`}</Text>
    ),
    wide: true,
  },
  {
    title: "Outcome",
    cell: ({ status }) => <State state={status} tone={RUN_TONES[status]} />,
    width: "w-s",
  },
  { title: "Reason", cell: ({ error }) => <Text>{error}</Text>, wide: true },
];
