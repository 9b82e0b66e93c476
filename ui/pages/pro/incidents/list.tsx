/** Incidents: all of them, newest first. @module */

import type { Incident } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { textColumn, timeColumn } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { optionsOf } from "../../../components/fields.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { QuerySelect } from "../../../components/search.tsx";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { capital, plain } from "../../../base/text.ts";
import { href, navigate, query, setQuery } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { incidentActions } from "./actions.ts";
import { IncidentForm, StatusForm } from "./forms.tsx";
import { SEVERITIES, Severity, Status, STATUSES } from "./words.tsx";

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
  const { data, error, reload } = useRead("GET /api/ext/service-pro/incidents", {
    query: { ...(status && { status }), limit: SHOWN_MAX },
  });
  useReloadOn("incident.", reload);
  const dialog = useDialog();
  const create = () =>
    dialog.open(IncidentForm, {
      incident: undefined,
      onSaved: ({ id }) => navigate(`/incidents/${id}`),
    });
  const edit = (incident: Incident) => dialog.open(IncidentForm, { incident, onSaved: reload });
  const setStatus = (incident: Incident) => dialog.open(StatusForm, { incident, onSaved: reload });
  return (
    <Page
      title="Incidents"
      actions={hasRole("operator", "incidents:write") && (
        <Button kind="primary" icon="plus" onClick={create}>New incident</Button>
      )}
    >
      {(status || data.value?.total !== 0) && (
        <div class="filters" role="search" aria-label="Filters">
          <QuerySelect
            name="Status"
            param="status"
            all="All statuses"
            options={optionsOf(STATUSES)}
          />
        </div>
      )}
      <Listing
        name="Incidents"
        columns={COLUMNS}
        rows={data.value?.incidents}
        total={data.value?.total}
        error={error.value}
        onRetry={reload}
        actionsFor={["operator", "incidents:write"]}
        actions={(incident) =>
          incidentActions(incident, {
            onStatus: () => setStatus(incident),
            onEdit: () => edit(incident),
            onDelete: reload,
          })}
        defaultSort="-created"
        empty={"No incidents yet. Open one by hand, or let a monitor or an alert rule open one by " +
          "itself."}
        filter={status &&
          { things: "incidents", onClear: () => setQuery({ status: undefined }) }}
      />
      {dialog.shown}
    </Page>
  );
}
