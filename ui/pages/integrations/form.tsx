/** The dialog of an integration. @module */

import { useSignal } from "@preact/signals";
import type { Integration, IntegrationAdapter } from "../../api/types.ts";
import { fieldsOf } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { ConfigFields, configOf } from "./config.tsx";

/** Limits of the service and its default, in seconds. */
const INTERVAL = { min: 10, max: 86_400, fallback: 60 };

export function IntegrationForm(
  { item: integration, adapters, ...dialog }: EditProps<Integration> & {
    /** Those of the edition, and that of the integration. */
    adapters: readonly IntegrationAdapter[];
  },
) {
  const chosen = useSignal(integration?.adapter ?? adapters[0]!.id);
  const adapter = adapters.find(({ id }) => id === chosen.value) ?? adapters[0]!;
  const stored = integration?.adapter === adapter.id ? integration.config : {};
  const { text, number, select } = fieldsOf(integration);
  const save = (values: FormValues) => {
    const { name, poll_interval } = values;
    const body = { name, adapter: adapter.id, config: configOf(adapter, values), poll_interval };
    return saveItem("/api/integrations", integration, body);
  };
  const options = adapters.map(({ id, name }) => ({ value: id, name }));
  return (
    <EditDialog noun="integration" item={integration} save={save} {...dialog} wide>
      <div class="field-row">
        {text("Name", "name", { required: true, maxLength: 100 })}
        {select("Adapter", "adapter", options, { choice: chosen })}
      </div>
      <ConfigFields key={adapter.id} adapter={adapter} value={stored} />
      {number("Poll interval (seconds)", "poll_interval", {
        initial: INTERVAL.fallback,
        min: INTERVAL.min,
        max: INTERVAL.max,
      })}
    </EditDialog>
  );
}
