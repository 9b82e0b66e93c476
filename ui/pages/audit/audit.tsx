/** The audit log: every write, with its author and its outcome. @module */

import type { InputOf } from "../../api/client.ts";
import type { AuditEntry } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { optionsOf } from "../../components/fields.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { offsetOf, Pager } from "../../components/pager.tsx";
import { useRead } from "../../components/reading.ts";
import { QuerySelect } from "../../components/search.tsx";
import { State, Text, withBreaks } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { capital, count } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { query, setQuery } from "../../state/router.ts";
import { EntryDetails } from "./details.tsx";
import { actorOf, TONES } from "./words.ts";

const PAGE_SIZE = 100;

const OUTCOMES = ["success", "failure", "denied"] as const;

/** Filters by the part of an entry that they search. */
const FILTERS = ["actor", "action", "target"] as const;

const RANGES = [
  { value: "1h", name: "Last hour", hours: 1 },
  { value: "24h", name: "Last 24 hours", hours: 24 },
  { value: "7d", name: "Last 7 days", hours: 24 * 7 },
  { value: "30d", name: "Last 30 days", hours: 24 * 30 },
];

const HOUR_MS = 3_600_000;

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: "Time", cell: ({ at }) => <Time at={at} />, width: "w-s" },
  { title: "Actor", cell: (entry) => <Text>{actorOf(entry)}</Text>, wide: true },
  {
    title: "Action",
    cell: ({ action }) => (
      <code class="cut breaks">
        {withBreaks(action)}
      </code>
    ),
  },
  { title: "Target", cell: ({ target }) => <Text>{target || null}</Text>, wide: true },
  {
    title: "Outcome",
    cell: ({ outcome }) => <State state={outcome} tone={TONES[outcome]} />,
    width: "w-s",
  },
  { title: "Address", cell: ({ ip }) => <Text>{ip || null}</Text>, width: "w-m", wide: true },
];

export default function AuditLog() {
  const { filters, isFiltered } = readQuery();
  const offset = offsetOf();
  const { data, error, reload } = useRead("GET /api/audit", {
    query: { ...filters, limit: PAGE_SIZE, offset },
  });
  const dialog = useDialog();
  const show = (entry: AuditEntry) => dialog.open(EntryDetails, { entry });
  const total = data.value?.total;
  return (
    <Page
      title="Audit log"
      lead={total !== undefined && (
        <span class="summary" role="status">{count(total, "entry", "entries")}</span>
      )}
      actions={<Button icon="restart" onClick={reload}>Refresh</Button>}
    >
      <Filters />
      <Listing
        name="Audit log"
        columns={COLUMNS}
        rows={data.value?.entries}
        reading={{ error, reload }}
        nameOf={({ action, target }) => `${action} ${target}`.trim()}
        actions={(entry) => [{ name: "Details", onSelect: () => show(entry) }]}
        empty="Nothing has been changed on this server in the last 90 days."
        filter={isFiltered ? { things: "entries", onClear: clear } : undefined}
      />
      {total !== undefined && <Pager total={total} limit={PAGE_SIZE} offset={offset} />}
      {dialog.shown}
    </Page>
  );
}

function Filters() {
  const params = query.value;
  return (
    <div class="filters" role="search" aria-label="Filters">
      {FILTERS.map((name) => (
        <input
          key={name}
          type="search"
          class="narrow"
          aria-label={capital(name)}
          placeholder={{
            actor: "Actor: email or id",
            action: "Part of the action",
            target: "Target: name or id",
          }[name]}
          maxLength={300}
          value={params.get(name) ?? ""}
          onChange={(event) => choose({ [name]: event.currentTarget.value.trim() })}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.currentTarget.dispatchEvent(new Event("change"));
          }}
        />
      ))}
      <QuerySelect
        name="Outcome"
        param="outcome"
        all="All outcomes"
        options={optionsOf(OUTCOMES)}
      />
      <QuerySelect name="Time range" param="range" all="Last 90 days" options={RANGES} />
    </div>
  );
}

/** Changes filters, and shows the first page. */
const choose = (changes: Record<string, string | undefined>) =>
  setQuery({ ...changes, offset: undefined });

const clear = () =>
  choose(Object.fromEntries([...FILTERS, "outcome", "range"].map((name) => [name, undefined])));

type Filters = NonNullable<InputOf<"GET /api/audit">["query"]>;

/** The filters in the address, which anyone can have written. */
function readQuery(): { filters: Filters; isFiltered: boolean } {
  const params = query.value;
  const filters: Filters = {};
  for (const name of FILTERS) {
    const text = params.get(name)?.slice(0, 300);
    if (text) filters[name] = text;
  }
  const outcome = OUTCOMES.find((each) => each === params.get("outcome"));
  if (outcome) filters.outcome = outcome;
  const range = RANGES.find(({ value }) => value === params.get("range"));
  if (range) filters.from = startOf(range.hours);
  return { filters, isFiltered: Object.keys(filters).length > 0 };
}

/** The start of a range, to the hour: drawing the page again must not read it again. */
const startOf = (hours: number): string =>
  new Date(Math.floor(Date.now() / HOUR_MS - hours) * HOUR_MS).toISOString();
