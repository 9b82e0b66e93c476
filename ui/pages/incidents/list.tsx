/**
 * Incidents: all of them, newest first.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { Incident, IncidentStatus } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { capital, plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { href, navigate, query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { incidentActions } from "./actions.ts";
import { IncidentForm, StatusForm } from "./forms.tsx";
import { choices, SEVERITIES, Severity, Status, STATUSES } from "./words.tsx";

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
  {
    title: "Commander",
    cell: ({ commander }) => commander ? <Text>{commander}</Text> : <span class="muted">–</span>,
    sort: ({ commander }) => commander,
    width: "w-m",
    wide: true,
  },
  {
    title: "Created",
    cell: ({ created_at: at }) => <Time at={at} />,
    sort: ({ created_at: at }) => at,
    width: "w-s",
    wide: true,
  },
];

/** The open dialog. */
type Task = { name: "new" } | { name: "edit" | "status"; incident: Incident };

export default function Incidents() {
  const status = STATUSES.find((each) => each === query.value.get("status"));
  const { data, error, reload } = useRead("GET /api/ext/service-pro/incidents", {
    query: { ...(status && { status }), limit: SHOWN_MAX },
  });
  useReloadOn("incident.", reload);
  const task = useSignal<Task | undefined>(undefined);
  const close = () => task.value = undefined;
  const create = hasRole("operator") && (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => task.value = { name: "new" }}
    >
      New incident
    </Button>
  );
  return (
    <Page title="Incidents" actions={create}>
      {(status || data.value?.total !== 0) && (
        <div class="filters" role="search" aria-label="Filters">
          <select
            aria-label="Status"
            value={status ?? ""}
            onChange={(event) =>
              setQuery({ status: event.currentTarget.value as IncidentStatus })}
          >
            <option value="">All statuses</option>
            {choices(STATUSES).map(({ value, name }) => (
              <option key={value} value={value}>{name}</option>
            ))}
          </select>
        </div>
      )}
      <Listing
        name="Incidents"
        columns={COLUMNS}
        rows={data.value?.incidents}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ title }) => title}
        {...hasRole("operator") && {
          actions: (incident: Incident) =>
            incidentActions(incident, {
              onStatus: () => task.value = { name: "status", incident },
              onEdit: () => task.value = { name: "edit", incident },
              onDelete: reload,
            }),
        }}
        defaultSort="-created"
        empty={"No incidents yet. Open one by hand, or let a monitor or an alert rule open one by " +
          "itself."}
        filter={status &&
          { things: "incidents", onClear: () => setQuery({ status: undefined }) }}
      />
      {data.value && <Newest shown={data.value.incidents.length} total={data.value.total} />}
      {task.value?.name === "status" && (
        <StatusForm incident={task.value.incident} onClose={close} onSaved={reload} />
      )}
      {(task.value?.name === "new" || task.value?.name === "edit") && (
        <IncidentForm
          incident={task.value.name === "edit" ? task.value.incident : undefined}
          onClose={close}
          onSaved={({ id }) =>
            task.peek()?.name === "new" ? navigate(`/incidents/${id}`) : reload()}
        />
      )}
    </Page>
  );
}
