/** Uptime: all monitors, and their recent outages. @module */

import { api } from "../../../api/client.ts";
import type { Monitor } from "../../../api/types.ts";
import { type Column, linkColumn, numberColumn, timeColumn } from "../../../components/columns.tsx";
import { optionsOf } from "../../../components/fields.tsx";
import { Section } from "../../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../../components/reading.ts";
import { QuerySelect, SearchField } from "../../../components/search.tsx";
import { State, Text } from "../../../components/states.tsx";
import { milliseconds, uptime } from "../../../base/text.ts";
import { query, setQuery } from "../../../state/router.ts";
import { sentenceOf, showAlert } from "../../../state/toasts.ts";
import { checkItems, MONITOR_DELETION } from "./actions.ts";
import { MonitorForm } from "./form.tsx";
import { Outages } from "./outages.tsx";
import { useResults, withLastResults } from "./results.ts";
import { ResourcePage } from "../../../components/resource.tsx";

const STATUSES = optionsOf(["up", "down", "pending", "paused"]);

const OUTAGES_SHOWN = 20;

const COLUMNS: readonly Column<Monitor>[] = [
  linkColumn("/uptime"),
  {
    title: "Target",
    cell: ({ type, url }) => (
      <span class="target">
        <span class="muted">{type.toUpperCase()}</span> <Text>{url}</Text>
      </span>
    ),
    sort: ({ url }) => url,
    wide: true,
  },
  {
    title: "Status",
    cell: ({ status }) => <State state={status} />,
    sort: ({ status }) => status,
    width: "w-s",
  },
  numberColumn("Response time", ({ last_response_time_ms: ms }) => ms, milliseconds, {
    wide: true,
    width: "w-m",
  }),
  {
    title: "Uptime",
    cell: ({ uptime_24h: percent }) => <span title="Last 24 hours">{uptime(percent)}</span>,
    sort: ({ uptime_24h: percent }) => percent,
    numeric: true,
    width: "w-xs",
  },
  timeColumn("Checked", ({ last_checked_at: at }) => at, { wide: true, width: "w-s" }),
];

export default function Uptime() {
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {});
  const outages = useRead("GET /api/ext/service-pro/uptime/incidents", {
    query: { limit: OUTAGES_SHOWN },
  });
  const reload = reloadAll(monitors, outages);
  useReloadOn("monitor.", reload);
  useResults(monitors, withLastResults);
  const params = query.value;
  const q = params.get("q") ?? "";
  const status = params.get("status") ?? "";
  const all = monitors.data.value?.monitors;
  const rows = all?.filter((monitor) =>
    (status === "" || monitor.status === status) &&
    `${monitor.name}\n${monitor.url}`.toLowerCase().includes(q.toLowerCase())
  );
  const isFiltered = q !== "" || status !== "";
  return (
    <ResourcePage
      title="Uptime"
      name="Monitors"
      noun="monitor"
      reading={{ error: monitors.error, reload }}
      rows={rows}
      columns={COLUMNS}
      write={["admin", "uptime:write"]}
      form={MonitorForm}
      onSaved={(saved) => void firstResult(saved).then(reload)}
      actionsFor={["operator", "uptime:write"]}
      actions={(monitor, { edit, remove }) => [...checkItems(monitor, reload), ...edit, ...remove]}
      deletion={MONITOR_DELETION}
      defaultSort="name"
      empty="No monitors yet. A monitor checks a web page, a port or a DNS record at an interval."
      filter={isFiltered && all?.length !== 0
        ? { things: "monitors", onClear: () => setQuery({ q: undefined, status: undefined }) }
        : undefined}
      lead={all && <Summary monitors={all} />}
      above={all && all.length > 0 && (
        <div class="filters" role="search" aria-label="Filters">
          <SearchField name="Filter monitors" placeholder="Filter by name or target" />
          <QuerySelect name="Status" param="status" all="All statuses" options={STATUSES} />
        </div>
      )}
    >
      <div class="below">
        <Section title="Recent outages">
          <Outages reading={outages} hasMonitor />
        </Section>
      </div>
    </ResourcePage>
  );
}

/** The service checks a new or changed monitor at once; this waits for the result. */
async function firstResult({ id, status }: Monitor): Promise<void> {
  if (status === "paused") return;
  try {
    await api("POST /api/ext/service-pro/uptime/monitors/{id}/check", { path: { id } });
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

/** E.g. "3 monitors, 1 down". */
function Summary({ monitors }: { monitors: readonly Monitor[] }) {
  const down = monitors.filter(({ status }) => status === "down").length;
  if (monitors.length === 0) return null;
  return (
    <span class="summary">
      {monitors.length} {monitors.length === 1 ? "monitor" : "monitors"}
      {down > 0 && `, ${down} down`}
    </span>
  );
}
