/**
 * The planned maintenance of a status page.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { StatusPageDetail, StatusPageMaintenance } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import {
  CheckGroup,
  EditDialog,
  type FormValues,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import { fromLocalInput, toLocalInput } from "../../components/local_time.ts";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import type { TabProps } from "./tab.ts";
import { words } from "./words.tsx";

const SHOWN_MAX = 100;

const TONES = { scheduled: "idle", in_progress: "busy", completed: "good" } as const;

/** In the browser's time zone, e.g. `7 Feb 2027, 22:00 – 23:30`. */
const RANGE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const COLUMNS: readonly Column<StatusPageMaintenance>[] = [
  {
    title: "Title",
    cell: ({ title }) => (
      <span class="name-cell">
        <Text>{title}</Text>
      </span>
    ),
  },
  { title: "Message", cell: ({ message }) => <Text>{message || "–"}</Text>, wide: true },
  { title: "Starts", cell: ({ starts_at: at }) => <Time at={at} />, width: "w-s" },
  {
    title: "Time",
    cell: ({ starts_at: start, ends_at: end }) => RANGE.formatRange(new Date(start), new Date(end)),
    width: "w-l",
    wide: true,
  },
  {
    title: "Status",
    cell: ({ status }) => <State state={words(status)} tone={TONES[status]} />,
    width: "w-m",
  },
];

export function Maintenances({ page, onChange }: TabProps) {
  const { data, error, reload } = useRead(
    "GET /api/ext/service-pro/status-pages/{pageId}/maintenances",
    { path: { pageId: page.id }, query: { limit: SHOWN_MAX } },
  );
  useReloadOn("status_page.", reload);
  const edited = useSignal<StatusPageMaintenance | "new" | undefined>(undefined);
  const reloadAll = () => {
    reload();
    onChange();
  };
  const create = hasRole("admin") && (
    <Button icon="plus" onClick={() => edited.value = "new"}>New maintenance</Button>
  );
  return (
    <>
      {create && <div class="tab-actions">{create}</div>}
      <Listing
        name="Maintenance"
        columns={COLUMNS}
        rows={data.value?.maintenances}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ title }) => title}
        {...hasRole("admin") && {
          actions: (maintenance: StatusPageMaintenance) => [
            { name: "Edit", onSelect: () => edited.value = maintenance },
            deleteItem(() => remove(maintenance), reloadAll),
          ],
        }}
        empty={"No maintenance is planned. It starts and completes by itself, and subscribers are " +
          "notified."}
      />
      {data.value && <Newest shown={data.value.maintenances.length} total={data.value.total} />}
      {edited.value && (
        <MaintenanceForm
          page={page}
          maintenance={edited.value === "new" ? undefined : edited.value}
          onClose={() => edited.value = undefined}
          onSaved={reloadAll}
        />
      )}
    </>
  );
}

async function remove({ id, page_id: pageId, title, status }: StatusPageMaintenance) {
  const consequence = `The maintenance “${plain(title)}” disappears from the status page.` +
    (status === "completed" ? "" : " Its subscribers are told that it is cancelled.");
  return await deleteConfirmed(
    { name: title, consequence },
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/maintenances/{maintenanceId}", {
        path: { pageId, maintenanceId: id },
      }),
  );
}

function MaintenanceForm({ page, maintenance, onClose, onSaved }: {
  page: StatusPageDetail;
  /** Without one, new maintenance is planned. */
  maintenance: StatusPageMaintenance | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const save = async ({ title, message, starts_at, ends_at, component_ids = [] }: FormValues) => {
    const body = {
      title,
      message,
      starts_at: fromLocalInput(starts_at)!,
      ends_at: fromLocalInput(ends_at)!,
      component_ids,
    };
    const saved = maintenance
      ? await api("PUT /api/ext/service-pro/status-pages/{pageId}/maintenances/{maintenanceId}", {
        path: { pageId: page.id, maintenanceId: maintenance.id },
        body,
      })
      : await api("POST /api/ext/service-pro/status-pages/{pageId}/maintenances", {
        path: { pageId: page.id },
        body,
      });
    onSaved();
    return saved.title;
  };
  return (
    <EditDialog noun="maintenance" name={maintenance?.title} save={save} onClose={onClose} wide>
      <TextField label="Title" name="title" value={maintenance?.title} required maxLength={500} />
      <div class="field-row">
        <TextField
          label="Starts"
          name="starts_at"
          type="datetime-local"
          value={toLocalInput(maintenance?.starts_at)}
          hint="In your time zone"
          required
        />
        <TextField
          label="Ends"
          name="ends_at"
          type="datetime-local"
          value={toLocalInput(maintenance?.ends_at)}
          required
        />
      </div>
      <TextArea
        label="Message"
        name="message"
        value={maintenance?.message ?? ""}
        hint="Shown on the page and sent to its subscribers"
      />
      {page.components.length > 0 && (
        <CheckGroup
          label="Components"
          name="component_ids"
          options={page.components.map(({ id, name }) => ({ value: id, name }))}
          checked={maintenance?.component_ids ?? []}
          hint="Shown as under maintenance meanwhile"
        />
      )}
    </EditDialog>
  );
}
