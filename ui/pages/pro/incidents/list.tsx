/** Incidents: all of them, newest first. @module */

import type { Incident } from "../../../api/types.ts";
import { type Column, textColumn, timeColumn } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { optionsOf } from "../../../components/fields.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { QuerySelect } from "../../../components/search.tsx";
import { Text } from "../../../components/states.tsx";
import { capital, plain } from "../../../base/text.ts";
import { href, navigate, query, setQuery } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { INCIDENT_DELETION } from "./deletion.ts";
import { IncidentForm, StatusForm } from "./forms.tsx";
import { SEVERITIES, Severity, Status, STATUSES } from "./words.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

const SHOWN_MAX = 500;

const COLUMNS: readonly Column<Incident>[] = [
  {
    title: "Title",
    cell: ({ id, title }) => (
      <span class="name-cell">
        <a class="cut" href={href(`/incidents/${id}`)}>{plain(title)}</a>
      </span>
    ),
    sort: ({ title }) => title,
  },
  {
    title: "Severity",
    cell: ({ severity }) => <Severity severity={severity} />,
    sort: ({ severity }) => SEVERITIES.indexOf(severity),
    width: "w-s",
    wide: true,
  },
  {
    title: "Status",
    cell: ({ status }) => <Status status={status} />,
    sort: ({ status }) => STATUSES.indexOf(status),
    width: "w-m",
  },
  {
    title: "Opened by",
    cell: ({ source, created_by: author }) =>
      source === "manual" ? <Text>{author}</Text> : capital(source),
    sort: ({ source }) => source,
    width: "w-m",
    wide: true,
  },
  textColumn("Commander", ({ commander }) => commander || null, { width: "w-m", wide: true }),
  timeColumn("Created", ({ created_at: at }) => at, { width: "w-s", wide: true }),
];

export default function Incidents() {
  const status = STATUSES.find((each) => each === query.value.get("status"));
  const reading = useRead("GET /api/ext/service-pro/incidents", {
    query: { ...(status && { status }), limit: SHOWN_MAX },
  });
  const { reload } = reading;
  useReloadOn("incident.", reload);
  const page = reading.data.value;
  const dialog = useDialog();
  const setStatus = (incident: Incident) => dialog.open(StatusForm, { incident, onSaved: reload });
  return (
    <ResourcePage
      title="Incidents"
      noun="incident"
      reading={reading}
      rows={page?.incidents}
      total={page?.total}
      columns={COLUMNS}
      write={["operator", "incidents:write"]}
      form={IncidentForm}
      onCreated={({ id }) => navigate(`/incidents/${id}`)}
      actionsFor={["operator", "incidents:write"]}
      actions={(incident, { edit, remove }) => [
        { name: "Change status", onSelect: () => setStatus(incident) },
        ...hasRole("admin", "incidents:write") ? edit : [],
        ...remove,
      ]}
      deletion={INCIDENT_DELETION}
      dialog={dialog}
      defaultSort="-created"
      empty={"No incidents yet. Open one by hand, or let a monitor or an alert rule open one by " +
        "itself."}
      filter={status &&
        { things: "incidents", onClear: () => setQuery({ status: undefined }) }}
      above={(status || page?.total !== 0) && (
        <div class="filters" role="search" aria-label="Filters">
          <QuerySelect
            name="Status"
            param="status"
            all="All statuses"
            options={optionsOf(STATUSES)}
          />
        </div>
      )}
    />
  );
}
