/** The dialog of an alert rule. @module */

import { useSignal } from "@preact/signals";
import type { AlertMetric, AlertRule, NewAlertRule } from "../../api/types.ts";
import { fieldsOf, optionsOf } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { containersTarget, TargetFields } from "../../parts/target_fields.tsx";
import { hasEdition } from "../../state/edition.ts";
import { metricOptions, OPERATOR_OPTIONS } from "../../parts/conditions.ts";
import { RulePreview } from "./preview.tsx";
import { METRICS } from "./words.ts";

/** Limits of the service. */
const THRESHOLD_MAX = 1e12;
const DURATION_MAX_S = 86_400;
const WINDOW_S = { min: 10, max: 86_400, fallback: 300 };

export const SEVERITIES = optionsOf(["info", "warning", "critical"]);

export function RuleForm({ item: rule, ...dialog }: EditProps<AlertRule>) {
  const metric = useSignal<AlertMetric>(rule?.metric ?? "cpu_percent");
  const save = (values: FormValues) => saveItem("/api/alerts/rules", rule, ruleOf(values));
  const { text, number, select, check } = fieldsOf(rule);
  // Another metric begins with its own values.
  const stored = rule?.metric === metric.value ? rule : undefined;
  return (
    <EditDialog noun="alert rule" item={rule} save={save} {...dialog} wide>
      {text("Name", "name", { required: true, maxLength: 100 })}
      <div class="field-row">
        {select("Metric", "metric", metricOptions(METRICS), { choice: metric })}
        {select("Severity", "severity", SEVERITIES, { initial: "warning" })}
      </div>
      <Condition key={metric.value} metric={metric.value} rule={stored} />
      {METRICS[metric.value].ofContainers && <TargetFields target={rule?.scope.target} />}
      {number("Without data (seconds)", "forMissingDataSeconds", {
        hint: "After this time without a value, one message reports it. Empty: never",
        optional: true,
        min: WINDOW_S.min,
        max: WINDOW_S.max,
      })}
      {hasEdition("pro") && check("Open an incident when it fires", "autoIncident")}
      <RulePreview ruleOf={ruleOf} />
    </EditDialog>
  );
}

/** The fields that the metric needs. */
function Condition({ metric, rule }: { metric: AlertMetric; rule: AlertRule | undefined }) {
  const words = METRICS[metric];
  const isPlain = !rule || rule.operator === "==" && rule.threshold === 1;
  const { text, number, select } = fieldsOf(rule);
  return (
    <>
      {words.hasPattern && text("Pattern", "pattern", {
        placeholder: "(?i)out of memory",
        hint: "A regular expression (RE2) for lines of the log",
        required: true,
        maxLength: 200,
      })}
      {!(words.isState && isPlain) && (
        <div class="field-row">
          {select("Operator", "operator", OPERATOR_OPTIONS, { initial: words.operator ?? ">" })}
          {number("Threshold", "threshold", {
            initial: words.threshold,
            hint: words.hint,
            min: -THRESHOLD_MAX,
            max: THRESHOLD_MAX,
            step: "any",
          })}
        </div>
      )}
      <div class="field-grid">
        {words.hasWindow && number("Window (seconds)", "windowSeconds", {
          initial: WINDOW_S.fallback,
          hint: "Occurrences in this time are counted",
          min: WINDOW_S.min,
          max: WINDOW_S.max,
        })}
        {number("Duration (seconds)", "durationSeconds", {
          initial: words.hasWindow ? 0 : 60,
          hint: "How long the condition must hold without interruption before the alert fires",
          min: 0,
          max: DURATION_MAX_S,
        })}
        {words.hasPath && text("Path", "path", {
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
  const metric = values.metric as AlertMetric;
  const { ofContainers } = METRICS[metric];
  return {
    name: values.name,
    metric,
    severity: values.severity,
    operator: values.operator ?? "==",
    threshold: values.threshold ?? 1,
    durationSeconds: values.durationSeconds,
    scope: { target: ofContainers ? containersTarget(values) : { kind: "host" } },
    pattern: values.pattern ?? null,
    path: values.path || null,
    windowSeconds: values.windowSeconds ?? null,
    forMissingDataSeconds: values.forMissingDataSeconds ?? null,
    ...(values.autoIncident !== undefined && { autoIncident: values.autoIncident }),
  };
}
