/**
 * The dialog that creates or changes a remediation rule.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { NewRemediationRule, RemediationRule } from "../../api/types.ts";
import { EditDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { capital } from "../../components/text.ts";
import { containers } from "../../state/live.ts";
import { metricOptions, type MetricWords, OPERATOR_OPTIONS } from "../conditions.ts";

type Metric = NewRemediationRule["condition_metric"];

export const METRICS: Record<Metric, MetricWords> = {
  container_down: { name: "Container is down", isState: true },
  container_unhealthy: { name: "Container is unhealthy", isState: true },
  container_cpu_percent: { name: "Container CPU", unit: "%" },
  container_memory_percent: { name: "Container memory", unit: "%" },
  container_stopped: { name: "Stopped containers" },
  cpu_percent: { name: "Host CPU", unit: "%" },
  memory_percent: { name: "Host memory", unit: "%" },
  disk_percent: { name: "Host disk", unit: "%" },
  load_1: { name: "Host load, 1 minute" },
};

const ACTIONS = ["restart", "start", "stop"].map((value) => ({ value, name: capital(value) }));

export function RuleForm({ rule, onClose, onSaved }: {
  /** Without one, a new rule is created. */
  rule: RemediationRule | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const metric = useSignal<Metric>(rule?.condition_metric ?? "container_down");
  const action = useSignal(rule?.action_type ?? "restart");
  const names = (containers.value ?? []).filter(({ self }) => !self).map(({ name }) => name);
  const known = containers.value?.find(({ id }) => id === rule?.action_target)?.name;
  const target = known ?? rule?.action_target;
  const targets = [...new Set([...target === undefined ? [] : [target], ...names])].sort();
  const save = async (values: FormValues) => {
    const body = bodyOf(values);
    const saved = rule
      ? await api("PUT /api/ext/service-pro/remediation/rules/{id}", {
        path: { id: rule.id },
        body,
      })
      : await api("POST /api/ext/service-pro/remediation/rules", { body });
    onSaved();
    return saved.name;
  };
  return (
    <EditDialog noun="rule" name={rule?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={rule?.name} required maxLength={100} />
      <div class="field-row">
        <SelectField
          label="Action"
          name="action_type"
          value={action.value}
          options={ACTIONS}
          onChange={(value) => action.value = value as RemediationRule["action_type"]}
        />
        <SelectField
          label="Container"
          name="action_target"
          value={target}
          options={targets}
          required
        />
      </div>
      <SelectField
        label="Metric"
        name="condition_metric"
        value={metric.value}
        options={metricOptions(METRICS)}
        hint={METRICS[metric.value].isState ? "1 if it is, else 0" : undefined}
        onChange={(value) => metric.value = value as Metric}
      />
      <div class="field-row">
        <SelectField
          label="Operator"
          name="condition_operator"
          value={rule?.condition_operator ?? "=="}
          options={OPERATOR_OPTIONS}
        />
        <TextField
          label="Threshold"
          name="condition_threshold"
          type="number"
          value={rule?.condition_threshold ?? 1}
          required
          step="any"
        />
        <TextField
          label="Duration (seconds)"
          name="condition_duration"
          type="number"
          value={rule?.condition_duration ?? 0}
          required
          min={0}
          max={86_400}
        />
      </div>
      <div class="field-row">
        <TextField
          label="Cooldown (seconds)"
          name="cooldown_seconds"
          type="number"
          value={rule?.cooldown_seconds ?? 900}
          hint="Between two actions"
          required
          min={0}
          max={86_400}
        />
        {action.value !== "start" && (
          <TextField
            label="Stop timeout (seconds)"
            name="timeout_seconds"
            type="number"
            value={rule?.action_config.timeout_seconds ?? ""}
            hint="Default 10"
            min={0}
            max={300}
          />
        )}
      </div>
    </EditDialog>
  );
}

function bodyOf({ timeout_seconds, ...values }: FormValues): NewRemediationRule {
  return {
    name: values.name,
    condition_metric: values.condition_metric,
    condition_operator: values.condition_operator,
    condition_threshold: values.condition_threshold,
    condition_duration: values.condition_duration,
    action_type: values.action_type,
    action_target: values.action_target,
    action_config: timeout_seconds === undefined ? {} : { timeout_seconds },
    cooldown_seconds: values.cooldown_seconds,
  };
}
