/** The incidents of a status page. @module */

import { api } from "../../../api/client.ts";
import type { StatusPageIncident } from "../../../api/types.ts";
import { type Column, Name } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { fieldsOf, optionsOf, SelectField, TextArea } from "../../../components/fields.tsx";
import {
  EditDialog,
  type EditProps,
  FormDialog,
  saveItem,
  type SaveProps,
} from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { showStatus } from "../../../state/toasts.ts";
import type { TabProps } from "./tab.ts";
import {
  INCIDENT_SEVERITIES,
  INCIDENT_STATUSES,
  IncidentStatus,
  MESSAGE_HINT,
  OneLine,
  words,
} from "./words.tsx";
import { ResourceTab } from "../../../components/resource.tsx";

const SHOWN_MAX = 100;

const COLUMNS: readonly Column<StatusPageIncident>[] = [
  { title: "Title", cell: ({ title }) => <Name>{title}</Name> },
  { title: "Severity", cell: ({ severity }) => words(severity), width: "w-s", wide: true },
  { title: "Status", cell: ({ status }) => <IncidentStatus status={status} />, width: "w-m" },
  { title: "Last update", cell: ({ message }) => <OneLine>{message}</OneLine>, wide: true },
  { title: "Created", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
];

export function Incidents({ page, onChange }: TabProps) {
  const pageId = page.id;
  const reading = useRead("GET /api/ext/service-pro/status-pages/{pageId}/incidents", {
    path: { pageId },
    query: { limit: SHOWN_MAX },
  });
  useReloadOn("status_page.", reading.reload);
  const dialog = useDialog();
  const onSaved = () => {
    reading.reload();
    onChange();
  };
  const update = (incident: StatusPageIncident) =>
    dialog.open(UpdateForm, { pageId, incident, onSaved });
  return (
    <ResourceTab
      title="Incidents"
      noun="incident"
      reading={reading}
      rows={reading.data.value?.incidents}
      total={reading.data.value?.total}
      onChange={onSaved}
      columns={COLUMNS}
      write={["admin", "status_pages:write"]}
      form={(props) => <IncidentForm {...props} pageId={pageId} />}
      actionsFor={["admin", "status_pages:write"]}
      actions={(incident, { edit, remove }) => [
        { name: "Add update", onSelect: () => update(incident) },
        ...edit,
        ...remove,
      ]}
      deletion={{
        consequence: ({ title, updates }) =>
          `The incident “${plain(title)}” and its ${
            count(updates.length, "update")
          } disappear from the status page.`,
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}", {
            path: { pageId, incId: id },
          }),
      }}
      dialog={dialog}
      empty="No incidents on this page. Subscribers are notified of each incident and update."
    />
  );
}

function IncidentForm({ pageId, item: incident, ...dialog }: EditProps<StatusPageIncident> & {
  pageId: string;
}) {
  const { text, select } = fieldsOf(incident);
  const save = ({ title, severity, status, message }: FormValues) =>
    saveItem(
      "/api/ext/service-pro/status-pages/{pageId}/incidents",
      incident,
      { title, severity, ...(!incident && { status, message }) },
      { pageId },
    );
  return (
    <EditDialog noun="incident" item={incident} save={save} {...dialog}>
      {text("Title", "title", { required: true, maxLength: 500 })}
      {select("Severity", "severity", optionsOf(INCIDENT_SEVERITIES), { initial: "minor" })}
      {!incident && (
        <>
          <SelectField label="Status" name="status" options={optionsOf(INCIDENT_STATUSES)} />
          <TextArea label="Message" name="message" hint={MESSAGE_HINT} />
        </>
      )}
    </EditDialog>
  );
}

function UpdateForm({ pageId, incident, onClose, onSaved }: SaveProps & {
  pageId: string;
  incident: StatusPageIncident;
}) {
  const save = async ({ status, message }: FormValues) => {
    const saved = await api(
      "POST /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}/updates",
      { path: { pageId, incId: incident.id }, body: { status, message } },
    );
    showStatus(`Saved ${plain(incident.title)}`);
    onSaved(saved);
  };
  return (
    <FormDialog title="Add update" submit="Save" onSubmit={save} onClose={onClose}>
      {fieldsOf(incident).select("Status", "status", optionsOf(INCIDENT_STATUSES))}
      <TextArea label="Message" name="message" hint={MESSAGE_HINT} required />
    </FormDialog>
  );
}
