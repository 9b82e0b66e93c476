/** The dialog that records something that happened outside this service. @module */

import { api, ApiError } from "../../../api/client.ts";
import { optionsOf, SelectField, TextArea, TextField } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { showStatus } from "../../../state/toasts.ts";
import { CATEGORIES, OUTCOMES, SEVERITIES } from "./entry.tsx";

export function EntryForm({ onClose, onSaved }: SaveProps) {
  return (
    <FormDialog
      title="New entry"
      submit="Create"
      onSubmit={async ({ category, severity, outcome, action, ...values }) => {
        const body = { category, severity, outcome, action, ...optional(values) };
        onSaved(await api("POST /api/ext/service-enterprise/compliance/logs", { body }));
        showStatus(`Created the entry ${action}`);
      }}
      onClose={onClose}
      wide
    >
      <TextField
        label="Action"
        name="action"
        placeholder="backup.restored"
        required
        maxLength={200}
      />
      <div class="field-row">
        <SelectField label="Category" name="category" options={optionsOf(CATEGORIES)} />
        <SelectField label="Severity" name="severity" options={optionsOf(SEVERITIES)} />
        <SelectField label="Outcome" name="outcome" options={optionsOf(OUTCOMES)} />
      </div>
      <div class="field-row">
        <TextField label="Target type" name="resource_type" maxLength={200} />
        <TextField label="Target" name="resource_id" maxLength={300} />
        <TextField label="Actor" name="actor_id" hint="Default: you" maxLength={200} />
      </div>
      <TextField label="Detail" name="detail" maxLength={2_000} />
      <TextArea label="Metadata" name="metadata" hint="A JSON object" rows={3} />
    </FormDialog>
  );
}

/** Empty fields are left out. */
function optional({ metadata, ...values }: FormValues) {
  return {
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")),
    ...(metadata.trim() !== "" && { metadata: parseMetadata(metadata) }),
  };
}

function parseMetadata(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, "body.metadata: must be a JSON object");
  }
}
