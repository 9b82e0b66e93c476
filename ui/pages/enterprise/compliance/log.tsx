/** The entries of the compliance log, with filters in the address. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { InputOf } from "../../../api/client.ts";
import type { ComplianceEntry, ComplianceEntryPage } from "../../../api/types.ts";
import { optionsOf } from "../../../components/fields.tsx";
import { Listing } from "../../../components/listing.tsx";
import { offsetOf, Pager } from "../../../components/pager.tsx";
import { type Reading, useRead, useReloadAfter } from "../../../components/reading.ts";
import { QuerySelect } from "../../../components/search.tsx";
import { State, Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { userName, type UserOption } from "../../../parts/user_name.ts";
import { query, setQuery } from "../../../state/router.ts";
import { CATEGORIES, OUTCOMES, SEVERITIES, StoredTime, targetOf } from "./entry.tsx";

const PAGE_SIZE = 100;

/** Delay of a search after a keystroke, in milliseconds. */
const SEARCH_AFTER_MS = 250;

const FILTERS = ["q", "category", "severity", "outcome", "from", "to"] as const;
type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function Log({ changes, users, onShow }: {
  /** The log is read again when it changes. */
  changes: number;
  users: readonly UserOption[];
  onShow: (id: string) => void;
}) {
  const filters = currentFilters();
  const { data, error, reload } = useLog(filters, changes);
  const isFiltered = Object.keys(filters).length > 0;
  const clear = () =>
    setQuery(Object.fromEntries([...FILTERS, "offset"].map((name) => [name, undefined])));
  const page = data.value;
  return (
    <>
      <FilterBar filters={filters} />
      <Listing
        name="Compliance log"
        columns={columns(users)}
        rows={page?.logs}
        reading={{ error, reload }}
        nameOf={({ action, event_id: eventId }) => `${action} ${eventId}`}
        actions={({ id }) => [{ name: "Details", onSelect: () => onShow(id) }]}
        empty="Nothing has been recorded yet. Every change and every login appears here."
        filter={isFiltered ? { things: "entries", onClear: clear } : undefined}
      />
      {page && <Pager {...page} />}
    </>
  );
}

function currentFilters(): Filters {
  return Object.fromEntries(
    FILTERS.map((name) => [name, query.value.get(name)]).filter(([, value]) => value),
  );
}

/** Reads a page of the log, a moment after the last keystroke of a search. */
function useLog(filters: Filters, changes: number): Reading<ComplianceEntryPage> {
  const q = useSignal(filters.q);
  useEffect(() => {
    const timer = setTimeout(() => q.value = filters.q, SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [filters.q]);
  const reading = useRead("GET /api/ext/service-enterprise/compliance/logs", {
    query: { ...queryOf(filters, q.value), limit: PAGE_SIZE, offset: offsetOf() },
  });
  useReloadAfter(changes, reading.reload);
  return reading;
}

type LogQuery = NonNullable<
  InputOf<"GET /api/ext/service-enterprise/compliance/logs">["query"]
>;

/** The days of the address are those of the browser's time zone. */
function queryOf({ from, to, q: _, ...filters }: Filters, q: string | undefined): LogQuery {
  const start = timeOf(from, "00:00:00");
  const end = timeOf(to, "23:59:59.999");
  return {
    ...filters as LogQuery,
    ...(q && { q }),
    ...(start && { from: start }),
    ...(end && { to: end }),
  };
}

function timeOf(day: string | undefined, clock: string): string | undefined {
  const date = new Date(`${day}T${clock}`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function FilterBar({ filters }: { filters: Filters }) {
  const set = (name: keyof Filters) => (event: { currentTarget: { value: string } }) =>
    setQuery({ [name]: event.currentTarget.value, offset: undefined });
  const select = (name: string, all: string, values: readonly string[]) => (
    <QuerySelect name={name} param={name.toLowerCase()} all={all} options={optionsOf(values)} />
  );
  return (
    <div class="filters" role="search" aria-label="Filters">
      <input
        type="search"
        aria-label="Search log"
        placeholder="Search actor, action, target or detail"
        maxLength={200}
        value={filters.q ?? ""}
        onInput={set("q")}
      />
      {select("Category", "All categories", CATEGORIES)}
      {select("Severity", "All severities", SEVERITIES)}
      {select("Outcome", "All outcomes", OUTCOMES)}
      <label>
        From
        <input type="date" value={filters.from ?? ""} onChange={set("from")} />
      </label>
      <label>
        To
        <input type="date" value={filters.to ?? ""} onChange={set("to")} />
      </label>
    </div>
  );
}

const columns = (users: readonly UserOption[]): readonly Column<ComplianceEntry>[] => [
  { title: "Time", cell: ({ created_at: at }) => <StoredTime at={at} />, width: "w-xs" },
  {
    title: "Actor",
    cell: ({ actor_id: id }) => <Text>{userName(users, id)}</Text>,
    wide: true,
    width: "w-l",
  },
  {
    title: "Action",
    cell: ({ action }) => (
      <span class="wraps">
        <Text>{action}</Text>
      </span>
    ),
  },
  { title: "Target", cell: (entry) => <Text>{targetOf(entry)}</Text>, wide: true },
  {
    title: "Outcome",
    cell: ({ outcome }) => <State state={outcome} tone={outcome === "success" ? "good" : "bad"} />,
    width: "w-s",
  },
];
