/**
 * The dialog of an alert rule.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { AlertMetric, AlertRule, NewAlertRule } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  SelectField,
  TextField,
} from "../../components/form.tsx";
import { containersTarget, TargetFields } from "../../components/target_fields.tsx";
import { hasEdition } from "../../state/edition.ts";
import { metricOptions, OPERATOR_OPTIONS } from "../conditions.ts";
import { RulePreview } from "./preview.tsx";
import { METRICS } from "./words.ts";

/** Limits of the service. */
const THRESHOLD_MAX = 1e12;
const DURATION_MAX_S = 86_400;
const WINDOW_S = { min: 10, max: 86_400, fallback: 300 };

export const SEVERITIES = [
  { value: "info", name: "Info" },
  { value: "warning", name: "Warning" },
  { value: "critical", name: "Critical" },
];

export function RuleForm({ rule, onClose, onSaved }: {
  /** Without one, a new rule is created. */
  rule: AlertRule | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const metric = useSignal<AlertMetric>(rule?.metric ?? "cpu_percent");
  const save = async (values: FormValues) => {
    const body = ruleOf(values);
    const saved = rule
      ? await api("PUT /api/alerts/rules/{id}", { path: { id: rule.id }, body })
      : await api("POST /api/alerts/rules", { body });
    onSaved();
    return saved.name;
  };
  // Another metric begins with its own values.
  const stored = rule?.metric === metric.value ? rule : undefined;
  return (
    <EditDialog noun="alert rule" name={rule?.name} save={save} onClose={onClose} wide>
      <TextField label="Name" name="name" value={rule?.name} required maxLength={100} />
      <div class="field-row">
        <SelectField
          label="Metric"
          name="metric"
          value={metric.value}
          options={metricOptions(METRICS)}
          onChange={(value) => metric.value = value as AlertMetric}
        />
        <SelectField
          label="Severity"
          name="severity"
          value={rule?.severity ?? "warning"}
          options={SEVERITIES}
        />
      </div>
      <Condition key={metric.value} metric={metric.value} rule={stored} />
      {METRICS[metric.value].ofContainers && <TargetFields target={rule?.scope.target} />}
      <TextField
        label="Without data (seconds)"
        name="forMissingDataSeconds"
        type="number"
        value={rule?.forMissingDataSeconds ?? undefined}
        hint="After this time without a value, one message reports it. Empty: never"
        min={WINDOW_S.min}
        max={WINDOW_S.max}
        step={1}
      />
      {hasEdition("pro") && (
        <CheckField
          label="Open an incident when it fires"
          name="autoIncident"
          checked={rule?.autoIncident ?? false}
        />
      )}
      <RulePreview ruleOf={ruleOf} />
    </EditDialog>
  );
}

/** The fields that the metric needs. */
function Condition({ metric, rule }: { metric: AlertMetric; rule: AlertRule | undefined }) {
  const words = METRICS[metric];
  const isPlain = !rule || rule.operator === "==" && rule.threshold === 1;
  return (
    <>
      {words.hasPattern && (
        <TextField
          label="Pattern"
          name="pattern"
          value={rule?.pattern ?? undefined}
          placeholder="(?i)out of memory"
          hint="A regular expression (RE2) for lines of the log"
          required
          maxLength={200}
        />
      )}
      {!(words.isState && isPlain) && (
        <div class="field-row">
          <SelectField
            label="Operator"
            name="operator"
            value={rule?.operator ?? words.operator ?? ">"}
            options={OPERATOR_OPTIONS}
          />
          <TextField
            label="Threshold"
            name="threshold"
            type="number"
            value={rule?.threshold ?? words.threshold}
            hint={words.hint}
            required
            min={-THRESHOLD_MAX}
            max={THRESHOLD_MAX}
            step="any"
          />
        </div>
      )}
      <div class="field-grid">
        {words.hasWindow && (
          <TextField
            label="Window (seconds)"
            name="windowSeconds"
            type="number"
            value={rule?.windowSeconds ?? WINDOW_S.fallback}
            hint="Occurrences in this time are counted"
            required
            min={WINDOW_S.min}
            max={WINDOW_S.max}
            step={1}
          />
        )}
        <TextField
          label="Duration (seconds)"
          name="durationSeconds"
          type="number"
          value={rule?.durationSeconds ?? (words.hasWindow ? 0 : 60)}
          hint="How long the condition must hold without interruption before the alert fires"
          required
          min={0}
          max={DURATION_MAX_S}
          step={1}
        />
        {words.hasPath && (
          <TextField
            label="Path"
            name="path"
            value={rule?.path ?? undefined}
            placeholder="/srv"
            hint="In the filesystem to measure, as the service sees it. Empty: the root"
            pattern="/.*"
            maxLength={4_096}
          />
        )}
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
