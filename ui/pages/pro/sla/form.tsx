/** The dialog that creates or changes an SLA. @module */

import { CheckGroup } from "../../../components/check_group.tsx";
import type { SlaDefinition } from "../../../api/types.ts";
import { fieldsOf } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { useRead } from "../../../components/reading.ts";

const PERIODS = [
  { value: "monthly", name: "Calendar month" },
  { value: "weekly", name: "Week, Monday to Sunday" },
];

export function SlaForm({ item: sla, ...dialog }: EditProps<SlaDefinition>) {
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {}).data.value?.monitors;
  const chosen = sla?.monitor_ids ?? [];
  const deleted = monitors ? chosen.filter((id) => !monitors.some((each) => each.id === id)) : [];
  const { text, number, select } = fieldsOf(sla);
  const save = ({ name, target_uptime, period_type, description, monitor_ids }: FormValues) => {
    const body = { name, target_uptime, period_type, description, monitor_ids };
    return saveItem("/api/ext/service-pro/sla/definitions", sla, body);
  };
  return (
    <EditDialog noun="SLA" item={sla} save={save} {...dialog}>
      {text("Name", "name", { required: true, maxLength: 100 })}
      <div class="field-row">
        {number("Target (percent)", "target_uptime", {
          initial: 99.9,
          min: 0.001,
          max: 99.999,
          step: "any",
        })}
        {select("Period", "period_type", PERIODS, { initial: "monthly" })}
      </div>
      {monitors?.length === 0 && deleted.length === 0
        ? <p class="note">Create a monitor first: an SLA measures the uptime of monitors.</p>
        : monitors && (
          <CheckGroup
            label="Monitors"
            name="monitor_ids"
            options={[
              ...monitors.map(({ id, name }) => ({ value: id, name })),
              ...deleted.map((id) => ({ value: id, name: "Deleted monitor" })),
            ]}
            checked={chosen}
            hint="The service is down while one of them is"
            required
          />
        )}
      {text("Description", "description", { maxLength: 1_000 })}
    </EditDialog>
  );
}
