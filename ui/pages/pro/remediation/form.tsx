/** The dialog that creates or changes a remediation rule. @module */

import { useSignal } from "@preact/signals";
import type {
  NewRemediationRule,
  RemediationMetricDescription,
  RemediationRule,
} from "../../../api/types.ts";
import { fieldsOf, optionsOf, SelectField, TextField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { containers } from "../../../state/live.ts";
import { metricOptions, OPERATOR_OPTIONS } from "../../../parts/conditions.ts";
import { WithKinds } from "../../../parts/kinds.tsx";
import { remediationMetrics } from "../../../state/kinds.ts";

const ACTIONS = optionsOf(["restart", "start", "stop"]);

export function RuleForm({ item: rule, ...dialog }: EditProps<RemediationRule>) {
  const save = (values: FormValues) =>
    saveItem("/api/ext/service-pro/remediation/rules", rule, bodyOf(values));
  return (
    <EditDialog noun="rule" item={rule} save={save} {...dialog}>
      {fieldsOf(rule).text("Name", "name", { required: true, maxLength: 100 })}
      <WithKinds name="Metrics" kinds={remediationMetrics}>
        {(metrics) => <RuleFields rule={rule} metrics={metrics} />}
      </WithKinds>
    </EditDialog>
  );
}

function RuleFields({ rule, metrics }: {
  rule: RemediationRule | undefined;
  metrics: readonly RemediationMetricDescription[];
}) {
  const chosen = useSignal<string>(rule?.condition_metric ?? metrics[0]!.id);
  const action = useSignal(rule?.action_type ?? "restart");
  const names = (containers.value ?? []).filter(({ self }) => !self).map(({ name }) => name);
  const known = containers.value?.find(({ id }) => id === rule?.action_target)?.name;
  const target = known ?? rule?.action_target;
  const targets = [...new Set([...target === undefined ? [] : [target], ...names])].sort();
  const { number, select } = fieldsOf(rule);
  const metric = metrics.find(({ id }) => id === chosen.value)!;
  // Another metric begins with its own values.
  const condition = fieldsOf(rule?.condition_metric === metric.id ? rule : undefined);
  return (
    <>
      <div class="field-row">
        {select("Action", "action_type", ACTIONS, { choice: action })}
        <SelectField
          label="Container"
          name="action_target"
          value={target}
          options={targets}
          required
        />
      </div>
      {select("Metric", "condition_metric", metricOptions(metrics), {
        choice: chosen,
        hint: metric.description,
      })}
      <div key={metric.id} class="field-row">
        {condition.select("Operator", "condition_operator", OPERATOR_OPTIONS, {
          initial: metric.operator,
        })}
        {condition.number("Threshold", "condition_threshold", {
          initial: metric.threshold,
          step: "any",
        })}
        {condition.number("Duration (seconds)", "condition_duration", {
          initial: 0,
          min: 0,
          max: 86_400,
        })}
      </div>
      <div class="field-row">
        {number("Cooldown (seconds)", "cooldown_seconds", {
          initial: 900,
          hint: "Between two actions",
          min: 0,
          max: 86_400,
        })}
        {action.value !== "start" && (
          <TextField
            label="Stop timeout (seconds)"
            name="timeout_seconds"
            type="number"
            value={rule?.action_config.timeout_seconds}
            hint="Default 10"
            min={0}
            max={300}
          />
        )}
      </div>
    </>
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
