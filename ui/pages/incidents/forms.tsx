/**
 * The dialogs of incidents.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Incident } from "../../api/types.ts";
import {
  EditDialog,
  FormDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { plain } from "../../components/text.ts";
import { showStatus } from "../../state/toasts.ts";
import { choices, SEVERITIES, STATUSES } from "./words.tsx";

interface DialogProps {
  onClose: () => void;
  onSaved: (incident: Incident) => void;
}

export function IncidentForm({ incident, onClose, onSaved }: DialogProps & {
  /** Without one, a new incident is created. */
  incident: Incident | undefined;
}) {
  const save = async ({ title, severity, description, commander }: FormValues) => {
    const body = {
      title,
      severity,
      description: description || null,
      commander: commander || null,
    };
    const saved = incident
      ? await api("PUT /api/ext/service-pro/incidents/{id}", { path: { id: incident.id }, body })
      : await api("POST /api/ext/service-pro/incidents", { body });
    onSaved(saved);
    return saved.title;
  };
  return (
    <EditDialog noun="incident" name={incident?.title} save={save} onClose={onClose}>
      <TextField label="Title" name="title" value={incident?.title} required maxLength={200} />
      <SelectField
        label="Severity"
        name="severity"
        value={incident?.severity ?? "major"}
        options={choices(SEVERITIES)}
      />
      <TextArea label="Description" name="description" value={incident?.description ?? ""} />
      <TextField
        label="Commander"
        name="commander"
        value={incident?.commander ?? ""}
        hint="The person who leads the response"
        maxLength={200}
      />
    </EditDialog>
  );
}

export function StatusForm({ incident, onClose, onSaved }: DialogProps & { incident: Incident }) {
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
      <SelectField
        label="Status"
        name="status"
        value={incident.status}
        options={choices(STATUSES)}
      />
      <TextArea
        label="Message"
        name="message"
        hint="Added to the timeline with the change"
      />
    </FormDialog>
  );
}
