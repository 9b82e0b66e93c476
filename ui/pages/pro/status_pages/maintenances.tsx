/** The planned maintenance of a status page. @module */

import { api } from "../../../api/client.ts";
import { CheckGroup } from "../../../components/check_group.tsx";
import type { StatusPageDetail, StatusPageMaintenance } from "../../../api/types.ts";
import { type Column, Name } from "../../../components/columns.tsx";
import { fieldsOf, TimeField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { fromLocalInput } from "../../../base/local_time.ts";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { State } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import type { TabProps } from "./tab.ts";
import { MESSAGE_HINT, OneLine, words } from "./words.tsx";
import { ResourceTab } from "../../../components/resource.tsx";

const SHOWN_MAX = 100;

const TONES = { scheduled: "idle", in_progress: "busy", completed: "good" } as const;

/** In the browser's time zone, e.g. `7 Feb 2027, 22:00 – 23:30`. */
const RANGE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const COLUMNS: readonly Column<StatusPageMaintenance>[] = [
  { title: "Title", cell: ({ title }) => <Name>{title}</Name> },
  { title: "Message", cell: ({ message }) => <OneLine>{message}</OneLine>, wide: true },
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
  const pageId = page.id;
  const reading = useRead("GET /api/ext/service-pro/status-pages/{pageId}/maintenances", {
    path: { pageId },
    query: { limit: SHOWN_MAX },
  });
  useReloadOn("status_page.", reading.reload);
  return (
    <ResourceTab
      title="Maintenance"
      noun="maintenance"
      reading={reading}
      rows={reading.data.value?.maintenances}
      total={reading.data.value?.total}
      onChange={() => {
        reading.reload();
        onChange();
      }}
      columns={COLUMNS}
      write={["admin", "status_pages:write"]}
      form={(props) => <MaintenanceForm {...props} page={page} />}
      deletion={{
        consequence: ({ title, status }) =>
          `The maintenance “${plain(title)}” disappears from the status page.` +
          (status === "completed" ? "" : " Its subscribers are told that it is cancelled."),
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/status-pages/{pageId}/maintenances/{maintenanceId}", {
            path: { pageId, maintenanceId: id },
          }),
      }}
      empty={"No maintenance is planned. It starts and completes by itself, and subscribers are " +
        "notified."}
    />
  );
}

function MaintenanceForm(
  { page, item: maintenance, ...dialog }: EditProps<StatusPageMaintenance> & {
    page: StatusPageDetail;
  },
) {
  const { text, area } = fieldsOf(maintenance);
  const save = ({ title, message, starts_at, ends_at, component_ids = [] }: FormValues) => {
    const body = {
      title,
      message,
      starts_at: fromLocalInput(starts_at)!,
      ends_at: fromLocalInput(ends_at)!,
      component_ids,
    };
    return saveItem(
      "/api/ext/service-pro/status-pages/{pageId}/maintenances",
      maintenance,
      body,
      { pageId: page.id },
    );
  };
  return (
    <EditDialog noun="maintenance" item={maintenance} save={save} {...dialog} wide>
      {text("Title", "title", { required: true, maxLength: 500 })}
      <div class="field-row">
        <TimeField
          label="Starts"
          name="starts_at"
          at={maintenance?.starts_at}
          hint="In your time zone"
          required
        />
        <TimeField label="Ends" name="ends_at" at={maintenance?.ends_at} required />
      </div>
      {area("Message", "message", { hint: MESSAGE_HINT })}
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
