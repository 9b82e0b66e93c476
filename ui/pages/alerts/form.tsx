/** The dialog of an alert rule. @module */

import { useSignal } from "@preact/signals";
import type {
  AlertMetricDescription,
  AlertRule,
  AlertTarget,
  NewAlertRule,
} from "../../api/types.ts";
import { fieldsOf, optionsOf } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import {
  containersTarget,
  StacksField,
  stacksTarget,
  TargetFields,
} from "../../parts/target_fields.tsx";
import { hasEdition } from "../../state/edition.ts";
import { metricOptions, OPERATOR_OPTIONS } from "../../parts/conditions.ts";
import { WithKinds } from "../../parts/kinds.tsx";
import { alertMetrics } from "../../state/kinds.ts";
import { RulePreview } from "./preview.tsx";

/** Limits of the service. */
const THRESHOLD_MAX = 1e12;
const DURATION_MAX_S = 86_400;
const WINDOW_S = { min: 10, max: 86_400 };

export const SEVERITIES = optionsOf(["info", "warning", "critical"]);

export function RuleForm({ item: rule, ...dialog }: EditProps<AlertRule>) {
  const save = (values: FormValues) => saveItem("/api/alerts/rules", rule, ruleOf(values));
  return (
    <EditDialog noun="alert rule" item={rule} save={save} {...dialog} wide>
      {fieldsOf(rule).text("Name", "name", { required: true, maxLength: 100 })}
      <WithKinds name="Metrics" kinds={alertMetrics}>
        {(metrics) => <RuleFields rule={rule} metrics={metrics} />}
      </WithKinds>
    </EditDialog>
  );
}

function RuleFields({ rule, metrics }: {
  rule: AlertRule | undefined;
  metrics: readonly AlertMetricDescription[];
}) {
  const chosen = useSignal<string>(rule?.metric ?? metrics[0]!.id);
  const metric = metrics.find(({ id }) => id === chosen.value)!;
  const { number, select, check } = fieldsOf(rule);
  // Another metric begins with its own values.
  const stored = rule?.metric === metric.id ? rule : undefined;
  return (
    <>
      <div class="field-row">
        {select("Metric", "metric", metricOptions(metrics), { choice: chosen })}
        {select("Severity", "severity", SEVERITIES, { initial: "warning" })}
      </div>
      <Condition key={metric.id} metric={metric} rule={stored} />
      {metric.target === "containers" && <TargetFields target={rule?.scope.target} />}
      {metric.target === "stacks" && <StacksField target={rule?.scope.target} />}
      {number("Without data (seconds)", "forMissingDataSeconds", {
        hint: "After this time without a value, one message reports it. Empty: never",
        optional: true,
        min: WINDOW_S.min,
        max: WINDOW_S.max,
      })}
      {hasEdition("pro") && check("Open an incident when it fires", "autoIncident")}
      <RulePreview ruleOf={ruleOf} />
    </>
  );
}

/** The fields that the metric needs. */
function Condition({ metric, rule }: {
  metric: AlertMetricDescription;
  rule: AlertRule | undefined;
}) {
  const { windowSeconds } = metric;
  const isPlain = !rule || rule.operator === "==" && rule.threshold === 1;
  const { text, number, select } = fieldsOf(rule);
  return (
    <>
      {metric.hasPattern && text("Pattern", "pattern", {
        placeholder: "(?i)out of memory",
        hint: "A regular expression (RE2) for lines of the log",
        required: true,
        maxLength: 200,
      })}
      {!(metric.isState && isPlain) && (
        <div class="field-row">
          {select("Operator", "operator", OPERATOR_OPTIONS, { initial: metric.operator })}
          {number("Threshold", "threshold", {
            initial: metric.threshold,
            hint: metric.description,
            min: -THRESHOLD_MAX,
            max: THRESHOLD_MAX,
            step: "any",
          })}
        </div>
      )}
      <div class="field-grid">
        {windowSeconds !== null && number("Window (seconds)", "windowSeconds", {
          initial: windowSeconds,
          hint: "Occurrences in this time are counted",
          min: WINDOW_S.min,
          max: WINDOW_S.max,
        })}
        {number("Duration (seconds)", "durationSeconds", {
          initial: windowSeconds === null ? 60 : 0,
          hint: "How long the condition must hold without interruption before the alert fires",
          min: 0,
          max: DURATION_MAX_S,
        })}
        {metric.hasPath && text("Path", "path", {
          placeholder: "/srv",
          hint: "In the filesystem to measure, as the service sees it. Empty: the root",
          check: (text) =>
            text === "" || text.startsWith("/") ? undefined : "Must be an absolute path",
          maxLength: 4_096,
        })}
      </div>
    </>
  );
}

/** The rule in a form's values. Fields that the metric does not have are `null`. */
function ruleOf(values: FormValues): NewAlertRule {
  const { metric } = values;
  const known = alertMetrics.list.value?.find(({ id }) => id === metric);
  return {
    name: values.name,
    metric,
    severity: values.severity,
    operator: values.operator ?? "==",
    threshold: values.threshold ?? 1,
    durationSeconds: values.durationSeconds,
    scope: { target: targetOf(known?.target, values) },
    pattern: values.pattern ?? null,
    path: values.path || null,
    windowSeconds: values.windowSeconds ?? null,
    forMissingDataSeconds: values.forMissingDataSeconds ?? null,
    ...(values.autoIncident !== undefined && { autoIncident: values.autoIncident }),
  };
}

function targetOf(
  kind: AlertMetricDescription["target"] | undefined,
  values: FormValues,
): AlertTarget {
  if (kind === "containers") return containersTarget(values);
  return kind === "stacks" ? stacksTarget(values) : { kind: "host" };
}
