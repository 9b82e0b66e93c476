/** The dialogs of incidents. @module */

import { api } from "../../../api/client.ts";
import type { Incident } from "../../../api/types.ts";
import { fieldsOf, optionsOf, TextArea } from "../../../components/fields.tsx";
import {
  EditDialog,
  type EditProps,
  FormDialog,
  saveItem,
  type SaveProps,
} from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { plain } from "../../../base/text.ts";
import { showStatus } from "../../../state/toasts.ts";
import { SEVERITIES, STATUSES } from "./words.tsx";

export function IncidentForm({ item: incident, ...dialog }: EditProps<Incident, Incident>) {
  const { text, select, area } = fieldsOf(incident);
  const save = ({ title, severity, description, commander }: FormValues) =>
    saveItem("/api/ext/service-pro/incidents", incident, {
      title,
      severity,
      description: description || null,
      commander: commander || null,
    });
  return (
    <EditDialog noun="incident" item={incident} save={save} {...dialog}>
      {text("Title", "title", { required: true, maxLength: 200 })}
      {select("Severity", "severity", optionsOf(SEVERITIES), { initial: "major" })}
      {area("Description", "description")}
      {text("Commander", "commander", {
        hint: "The person who leads the response",
        maxLength: 200,
      })}
    </EditDialog>
  );
}

export function StatusForm({ incident, onClose, onSaved }: SaveProps & { incident: Incident }) {
  const save = async ({ status, message }: FormValues) => {
    const saved = await api("PUT /api/ext/service-pro/incidents/{id}/status", {
      path: { id: incident.id },
      body: { status, ...(message && { message }) },
    });
    showStatus(`Saved ${plain(saved.title)}`);
    onSaved(saved);
  };
  return (
    <FormDialog title="Change status" submit="Save" onSubmit={save} onClose={onClose}>
      {fieldsOf(incident).select("Status", "status", optionsOf(STATUSES))}
      <TextArea label="Message" name="message" hint="Added to the timeline with the change" />
    </FormDialog>
  );
}
