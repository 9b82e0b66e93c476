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
  FormDialog,
  type FormValues,
  SelectField,
  TextField,
} from "../../components/form.tsx";
import { plain } from "../../components/text.ts";
import { hasEdition } from "../../state/edition.ts";
import { showStatus } from "../../state/toasts.ts";
import { metricOptions, OPERATOR_OPTIONS } from "../conditions.ts";
import { METRICS } from "./words.ts";

/** Limits of the service. */
const THRESHOLD_MAX = 1e12;
const DURATION_MAX_S = 86_400;

export function RuleForm({ rule, onClose, onSaved }: {
  /** Without one, a new rule is created. */
  rule: AlertRule | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const metric = useSignal<AlertMetric>(rule?.metric ?? "cpu_percent");
  const save = async (values: FormValues) => {
    const body = values as NewAlertRule;
    const saved = rule
      ? await api("PUT /api/alerts/rules/{id}", { path: { id: rule.id }, body })
      : await api("POST /api/alerts/rules", { body });
    showStatus(`${rule ? "Saved" : "Created"} ${plain(saved.name)}`);
    onSaved();
  };
  const isPercent = METRICS[metric.value].unit === "%";
  return (
    <FormDialog
      title={rule ? `Edit ${plain(rule.name)}` : "New alert rule"}
      submit={rule ? "Save" : "Create"}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField label="Name" name="name" value={rule?.name} required maxLength={100} />
      <SelectField
        label="Metric"
        name="metric"
        value={metric.value}
        options={metricOptions(METRICS)}
        onChange={(value) => metric.value = value as AlertMetric}
      />
      <div class="field-row">
        <SelectField
          label="Operator"
          name="operator"
          value={rule?.operator ?? ">"}
          options={OPERATOR_OPTIONS}
        />
        <TextField
          label="Threshold"
          name="threshold"
          type="number"
          value={rule?.threshold ?? 90}
          hint={isPercent ? "Percent of the whole host" : undefined}
          required
          min={-THRESHOLD_MAX}
          max={THRESHOLD_MAX}
          step="any"
        />
      </div>
      <TextField
        label="Duration (seconds)"
        name="durationSeconds"
        type="number"
        value={rule?.durationSeconds ?? 60}
        hint="How long the condition must hold without interruption before the alert fires"
        required
        min={0}
        max={DURATION_MAX_S}
        step={1}
      />
      {hasEdition("pro") && (
        <CheckField
          label="Open an incident when it fires"
          name="autoIncident"
          checked={rule?.autoIncident ?? false}
        />
      )}
    </FormDialog>
  );
}
