/** The incidents of a status page. @module */

import { api } from "../../../api/client.ts";
import type { StatusPageIncident } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Name } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { fieldsOf, optionsOf, SelectField, TextArea } from "../../../components/fields.tsx";
import { EditDialog, FormDialog, saveItem, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { Listing } from "../../../components/listing.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import type { Column } from "../../../components/table.tsx";
import { count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { hasRole } from "../../../state/session.ts";
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

const SHOWN_MAX = 100;

const COLUMNS: readonly Column<StatusPageIncident>[] = [
  { title: "Title", cell: ({ title }) => <Name>{title}</Name> },
  { title: "Severity", cell: ({ severity }) => words(severity), width: "w-s", wide: true },
  { title: "Status", cell: ({ status }) => <IncidentStatus status={status} />, width: "w-m" },
  { title: "Last update", cell: ({ message }) => <OneLine>{message}</OneLine>, wide: true },
  { title: "Created", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
];

export function Incidents({ page, onChange }: TabProps) {
  const { data, error, reload } = useRead(
    "GET /api/ext/service-pro/status-pages/{pageId}/incidents",
    { path: { pageId: page.id }, query: { limit: SHOWN_MAX } },
  );
  useReloadOn("status_page.", reload);
  const dialog = useDialog();
  const pageId = page.id;
  const onSaved = () => {
    reload();
    onChange();
  };
  const edit = (incident?: StatusPageIncident) =>
    dialog.open(IncidentForm, { pageId, incident, onSaved });
  const update = (incident: StatusPageIncident) =>
    dialog.open(UpdateForm, { pageId, incident, onSaved });
  return (
    <>
      {hasRole("admin", "status_pages:write") && (
        <div class="tab-actions">
          <Button icon="plus" onClick={() => edit()}>New incident</Button>
        </div>
      )}
      <Listing
        name="Incidents"
        columns={COLUMNS}
        rows={data.value?.incidents}
        total={data.value?.total}
        error={error.value}
        onRetry={reload}
        actionsFor={["admin", "status_pages:write"]}
        actions={(incident) => [
          { name: "Add update", onSelect: () => update(incident) },
          { name: "Edit", onSelect: () => edit(incident) },
          deleteItem(() => remove(incident), onSaved),
        ]}
        empty="No incidents on this page. Subscribers are notified of each incident and update."
      />
      {dialog.shown}
    </>
  );
}

const remove = ({ id, page_id: pageId, title, updates }: StatusPageIncident) =>
  deleteConfirmed(
    title,
    `The incident “${plain(title)}” and its ${
      count(updates.length, "update")
    } disappear from the status page.`,
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}", {
        path: { pageId, incId: id },
      }),
  );

function IncidentForm({ pageId, incident, ...dialog }: SaveProps & {
  pageId: string;
  /** Without one, a new incident is created. */
  incident: StatusPageIncident | undefined;
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
