/**
 * The dialog of an integration.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Integration, IntegrationAdapter } from "../../api/types.ts";
import { EditDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { ConfigFields, configOf } from "./config.tsx";

/** Limits of the service and its default, in seconds. */
const INTERVAL = { min: 10, max: 86_400, fallback: 60 };

export function IntegrationForm({ integration, adapters, onClose, onSaved }: {
  /** Without one, a new integration is created. */
  integration: Integration | undefined;
  /** Those of the edition, and that of the integration. */
  adapters: readonly IntegrationAdapter[];
  onClose: () => void;
  onSaved: () => void;
}) {
  const chosen = useSignal(integration?.adapter ?? adapters[0]!.id);
  const adapter = adapters.find(({ id }) => id === chosen.value) ?? adapters[0]!;
  const stored = integration?.adapter === adapter.id ? integration.config : {};
  const save = async (values: FormValues) => {
    const { name } = values;
    const body = {
      name,
      adapter: adapter.id,
      config: configOf(adapter, values),
      poll_interval: values.poll_interval as number,
    };
    if (integration) {
      await api("PUT /api/integrations/{id}", { path: { id: integration.id }, body });
    } else await api("POST /api/integrations", { body });
    onSaved();
    return name;
  };
  return (
    <EditDialog noun="integration" name={integration?.name} save={save} onClose={onClose} wide>
      <div class="field-row">
        <TextField label="Name" name="name" value={integration?.name} required maxLength={100} />
        <SelectField
          label="Adapter"
          name="adapter"
          value={adapter.id}
          options={adapters.map(({ id, name }) => ({ value: id, name }))}
          onChange={(id) => chosen.value = id}
        />
      </div>
      <ConfigFields key={adapter.id} adapter={adapter} value={stored} />
      <TextField
        label="Poll interval (seconds)"
        name="poll_interval"
        type="number"
        value={integration?.poll_interval ?? INTERVAL.fallback}
        required
        min={INTERVAL.min}
        max={INTERVAL.max}
        step={1}
      />
    </EditDialog>
  );
}
