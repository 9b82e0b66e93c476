/**
 * Uptime: all monitors, and their recent outages.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Monitor } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { linkColumn } from "../../components/columns.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { capital, milliseconds, uptime } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { monitorActions } from "./actions.ts";
import { MonitorForm } from "./form.tsx";
import { Outages } from "./outages.tsx";

const STATUSES = ["up", "down", "pending", "paused"];

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
  {
    title: "Response time",
    cell: ({ last_response_time_ms: ms }) => milliseconds(ms),
    sort: ({ last_response_time_ms: ms }) => ms,
    numeric: true,
    wide: true,
    width: "w-m",
  },
  {
    title: "Uptime",
    cell: ({ uptime_24h: percent }) => <span title="Last 24 hours">{uptime(percent)}</span>,
    sort: ({ uptime_24h: percent }) => percent,
    numeric: true,
    width: "w-xs",
  },
  {
    title: "Checked",
    cell: ({ last_checked_at: at }) => <Time at={at} />,
    sort: ({ last_checked_at: at }) => at,
    wide: true,
    width: "w-s",
  },
];

export default function Uptime() {
  const { data, error, reload } = useRead("GET /api/ext/service-pro/uptime/monitors", {});
  const outages = useRead("GET /api/ext/service-pro/uptime/incidents", {
    query: { limit: OUTAGES_SHOWN },
  });
  const reloadAll = () => {
    reload();
    outages.reload();
  };
  useReloadOn("monitor.", reloadAll);
  const edited = useSignal<Monitor | "new" | undefined>(undefined);
  const q = query.value.get("q") ?? "";
  const status = query.value.get("status") ?? "";
  const all = data.value?.monitors;
  const rows = all?.filter((monitor) =>
    (status === "" || monitor.status === status) &&
    `${monitor.name}\n${monitor.url}`.toLowerCase().includes(q.toLowerCase())
  );
  const isFiltered = q !== "" || status !== "";
  const create = hasRole("admin") && (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => edited.value = "new"}
    >
      New monitor
    </Button>
  );
  return (
    <Page title="Uptime" lead={all && <Summary monitors={all} />} actions={create}>
      {all && all.length > 0 && (
        <div class="filters" role="search" aria-label="Filters">
          <input
            type="search"
            aria-label="Filter monitors"
            placeholder="Filter by name or target"
            value={q}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
          <select
            aria-label="Status"
            value={status}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            <option value="">All statuses</option>
            {STATUSES.map((each) => <option key={each} value={each}>{capital(each)}</option>)}
          </select>
        </div>
      )}
      <Listing
        name="Monitors"
        columns={COLUMNS}
        rows={rows}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        {...hasRole("operator") && {
          actions: (monitor: Monitor) =>
            monitorActions(monitor, {
              onChange: reloadAll,
              onEdit: () => edited.value = monitor,
            }),
        }}
        defaultSort="name"
        empty="No monitors yet. A monitor checks a web page, a port or a DNS record at an interval."
        filter={isFiltered && all?.length !== 0
          ? { things: "monitors", onClear: () => setQuery({ q: undefined, status: undefined }) }
          : undefined}
      />
      <div class="below">
        <Section title="Recent outages">
          <Outages reading={outages} hasMonitor />
        </Section>
      </div>
      {edited.value && (
        <MonitorForm
          monitor={edited.value === "new" ? undefined : edited.value}
          onClose={() => edited.value = undefined}
          onSaved={(monitor) => {
            reload();
            void firstResult(monitor).then(reloadAll);
          }}
        />
      )}
    </Page>
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
