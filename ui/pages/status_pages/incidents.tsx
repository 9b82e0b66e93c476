/**
 * The incidents of a status page.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { StatusPageIncident } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import {
  EditDialog,
  FormDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { count, plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";
import type { TabProps } from "./tab.ts";
import {
  choices,
  INCIDENT_SEVERITIES,
  INCIDENT_STATUSES,
  IncidentStatus,
  words,
} from "./words.tsx";

const SHOWN_MAX = 100;

const COLUMNS: readonly Column<StatusPageIncident>[] = [
  {
    title: "Title",
    cell: ({ title }) => (
      <span class="name-cell">
        <Text>{title}</Text>
      </span>
    ),
  },
  { title: "Severity", cell: ({ severity }) => words(severity), width: "w-s", wide: true },
  { title: "Status", cell: ({ status }) => <IncidentStatus status={status} />, width: "w-m" },
  {
    title: "Last update",
    cell: ({ message }) => <Text>{message || "–"}</Text>,
    wide: true,
  },
  { title: "Created", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
];

/** The open dialog. */
type Task = { name: "new" } | { name: "edit" | "update"; incident: StatusPageIncident };

export function Incidents({ page, onChange }: TabProps) {
  const { data, error, reload } = useRead(
    "GET /api/ext/service-pro/status-pages/{pageId}/incidents",
    { path: { pageId: page.id }, query: { limit: SHOWN_MAX } },
  );
  useReloadOn("status_page.", reload);
  const task = useSignal<Task | undefined>(undefined);
  const open = task.value;
  const dialog = {
    pageId: page.id,
    onClose: () => task.value = undefined,
    onSaved: () => {
      reload();
      onChange();
    },
  };
  const create = hasRole("admin") && (
    <Button
      icon="plus"
      onClick={() => task.value = { name: "new" }}
    >
      New incident
    </Button>
  );
  return (
    <>
      {create && <div class="tab-actions">{create}</div>}
      <Listing
        name="Incidents"
        columns={COLUMNS}
        rows={data.value?.incidents}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ title }) => title}
        {...hasRole("admin") && {
          actions: (incident: StatusPageIncident) => [
            { name: "Add update", onSelect: () => task.value = { name: "update", incident } },
            { name: "Edit", onSelect: () => task.value = { name: "edit", incident } },
            deleteItem(() => remove(incident), dialog.onSaved),
          ],
        }}
        empty="No incidents on this page. Subscribers are notified of each incident and update."
      />
      {data.value && <Newest shown={data.value.incidents.length} total={data.value.total} />}
      {open?.name === "update" && <UpdateForm {...dialog} incident={open.incident} />}
      {(open?.name === "new" || open?.name === "edit") && (
        <IncidentForm
          {...dialog}
          incident={open.name === "edit" ? open.incident : undefined}
        />
      )}
    </>
  );
}

async function remove({ id, page_id: pageId, title, updates }: StatusPageIncident) {
  const consequence = `The incident “${plain(title)}” and its ${
    count(updates.length, "update")
  } disappear from the status page.`;
  return await deleteConfirmed(
    { name: title, consequence },
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}", {
        path: { pageId, incId: id },
      }),
  );
}

interface DialogProps {
  pageId: string;
  onClose: () => void;
  onSaved: () => void;
}

function IncidentForm({ pageId, incident, onClose, onSaved }: DialogProps & {
  /** Without one, a new incident is created. */
  incident: StatusPageIncident | undefined;
}) {
  const save = async ({ title, severity, status, message }: FormValues) => {
    const saved = incident
      ? await api("PUT /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}", {
        path: { pageId, incId: incident.id },
        body: { title, severity },
      })
      : await api("POST /api/ext/service-pro/status-pages/{pageId}/incidents", {
        path: { pageId },
        body: { title, severity, status, message },
      });
    onSaved();
    return saved.title;
  };
  return (
    <EditDialog noun="incident" name={incident?.title} save={save} onClose={onClose}>
      <TextField label="Title" name="title" value={incident?.title} required maxLength={500} />
      <SelectField
        label="Severity"
        name="severity"
        value={incident?.severity ?? "minor"}
        options={choices(INCIDENT_SEVERITIES)}
      />
      {!incident && (
        <>
          <SelectField label="Status" name="status" options={choices(INCIDENT_STATUSES)} />
          <TextArea
            label="Message"
            name="message"
            hint="Shown on the page and sent to its subscribers"
          />
        </>
      )}
    </EditDialog>
  );
}

function UpdateForm({ pageId, incident, onClose, onSaved }: DialogProps & {
  incident: StatusPageIncident;
}) {
  const save = async ({ status, message }: FormValues) => {
    await api("POST /api/ext/service-pro/status-pages/{pageId}/incidents/{incId}/updates", {
      path: { pageId, incId: incident.id },
      body: { status, message },
    });
    showStatus(`Saved ${plain(incident.title)}`);
    onSaved();
  };
  return (
    <FormDialog title="Add update" submit="Save" onSubmit={save} onClose={onClose}>
      <SelectField
        label="Status"
        name="status"
        value={incident.status}
        options={choices(INCIDENT_STATUSES)}
      />
      <TextArea
        label="Message"
        name="message"
        hint="Shown on the page and sent to its subscribers"
        required
      />
    </FormDialog>
  );
}
