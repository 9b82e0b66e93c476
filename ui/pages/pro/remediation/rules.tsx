/** Remediation: rules that act on containers by themselves, and what they did. @module */

import { api } from "../../../api/client.ts";
import type { RemediationRule, RemediationRun } from "../../../api/types.ts";
import { type Column, NAME_COLUMN } from "../../../components/columns.tsx";
import { ListingSection } from "../../../components/listing.tsx";
import { reloadAll, useRead, useReloadOn } from "../../../components/reading.ts";
import { State, Text } from "../../../components/states.tsx";
import { capital, count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { RuleForm } from "./form.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

const RUNS_SHOWN = 100;

const COLUMNS: readonly Column<RemediationRule>[] = [
  NAME_COLUMN,
  {
    title: "Condition",
    cell: ({ condition }) => <Text>{condition}</Text>,
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
];

export default function Remediation() {
  const rules = useRead("GET /api/ext/service-pro/remediation/rules", {});
  const history = useRead("GET /api/ext/service-pro/remediation/history", {
    query: { limit: RUNS_SHOWN },
  });
  useReloadOn("remediation.", reloadAll(rules, history));
  const runs = history.data.value;
  return (
    <ResourcePage
      title="Remediation"
      name="Remediation rules"
      noun="rule"
      reading={rules}
      rows={rules.data.value?.rules}
      columns={COLUMNS}
      write={["admin", "remediation:write"]}
      form={RuleForm}
      enable={({ id }, enabled) =>
        api("PUT /api/ext/service-pro/remediation/rules/{id}/toggle", {
          path: { id },
          body: { enabled },
        })}
      deletion={{
        consequence: ({ name }) => `The rule ${plain(name)} is deleted. Its history is kept.`,
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/remediation/rules/{id}", { path: { id } }),
      }}
      defaultSort="name"
      empty={"No rules yet. A rule starts, stops or restarts a container when a condition holds, " +
        "e.g. when the container is down."}
    >
      <ListingSection
        title="History"
        name="Remediation history"
        columns={RUN_COLUMNS}
        rows={runs?.history}
        total={runs?.total}
        reading={history}
        empty="No rule has acted in the last 90 days."
      />
    </ResourcePage>
  );
}

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
