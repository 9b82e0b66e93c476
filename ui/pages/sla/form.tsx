/**
 * The dialog that creates or changes an SLA.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { SlaDefinition } from "../../api/types.ts";
import {
  CheckGroup,
  EditDialog,
  type FormValues,
  SelectField,
  TextField,
} from "../../components/form.tsx";
import { useRead } from "../../components/reading.ts";

const PERIODS = [
  { value: "monthly", name: "Calendar month" },
  { value: "weekly", name: "Week, Monday to Sunday" },
];

export function SlaForm({ sla, onClose, onSaved }: {
  /** Without one, a new SLA is created. */
  sla: SlaDefinition | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {}).data.value?.monitors;
  const chosen = sla?.monitor_ids ?? [];
  const deleted = monitors ? chosen.filter((id) => !monitors.some((each) => each.id === id)) : [];
  const save = async (
    { name, target_uptime, period_type, description, monitor_ids }: FormValues,
  ) => {
    const body = { name, target_uptime, period_type, description, monitor_ids };
    const saved = sla
      ? await api("PUT /api/ext/service-pro/sla/definitions/{id}", { path: { id: sla.id }, body })
      : await api("POST /api/ext/service-pro/sla/definitions", { body });
    onSaved();
    return saved.name;
  };
  return (
    <EditDialog noun="SLA" name={sla?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={sla?.name} required maxLength={100} />
      <div class="field-row">
        <TextField
          label="Target (percent)"
          name="target_uptime"
          type="number"
          value={sla?.target_uptime ?? 99.9}
          required
          min={0.001}
          max={99.999}
          step="any"
        />
        <SelectField
          label="Period"
          name="period_type"
          value={sla?.period_type ?? "monthly"}
          options={PERIODS}
        />
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
      <TextField
        label="Description"
        name="description"
        value={sla?.description ?? ""}
        maxLength={1_000}
      />
    </EditDialog>
  );
}
