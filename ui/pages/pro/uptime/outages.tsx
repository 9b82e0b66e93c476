/** A table of outages, newest first. @module */

import type { Outage, OutagePage } from "../../../api/types.ts";
import { Listing } from "../../../components/listing.tsx";
import type { Reading } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { duration } from "../../../base/text.ts";
import { now, Time } from "../../../components/time.tsx";

const MONITOR: Column<Outage> = {
  title: "Monitor",
  cell: ({ monitor_name: name }) => <Text>{name}</Text>,
};

const COLUMNS: readonly Column<Outage>[] = [
  { title: "Started", cell: ({ started_at: at }) => <Time at={at} />, width: "w-s" },
  {
    title: "Duration",
    cell: ({ duration_seconds: seconds, resolved_at: at, started_at: start }) =>
      at === null ? <Ongoing since={start} /> : duration(seconds),
    width: "w-l",
  },
  { title: "Cause", cell: ({ cause }) => <Text>{cause}</Text>, wide: true },
];

/** `since` is ISO 8601. */
function Ongoing({ since }: { since: string }) {
  const seconds = Math.max(0, (Math.max(now.value, Date.now()) - Date.parse(since)) / 1000);
  return <span class="state bad">Ongoing, {duration(seconds)}</span>;
}

export function Outages({ reading: { data, error, reload }, hasMonitor }: {
  reading: Reading<OutagePage>;
  /** Outages of several monitors. */
  hasMonitor?: boolean;
}) {
  const page = data.value;
  return (
    <>
      <Listing
        name="Outages"
        columns={hasMonitor ? [MONITOR, ...COLUMNS] : COLUMNS}
        rows={page?.incidents}
        total={page?.total}
        reading={{ error, reload }}
        empty="No outages in the last 400 days."
      />
    </>
  );
}
