/** A table of breaches, newest first. @module */

import type { SlaBreach } from "../../../api/types.ts";
import { Listing, type ListReading } from "../../../components/listing.tsx";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { duration, uptime } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";

const COLUMNS: readonly Column<SlaBreach>[] = [
  { title: "Breached", cell: ({ breached_at: at }) => <Time at={at} />, width: "w-s" },
  {
    title: "Target",
    cell: ({ target_uptime: target }) => `${target} %`,
    numeric: true,
    wide: true,
  },
  { title: "Uptime", cell: ({ actual_uptime: actual }) => uptime(actual), numeric: true },
  {
    title: "Downtime",
    cell: ({ total_downtime_seconds: seconds }) => duration(seconds),
    numeric: true,
  },
];

export function Breaches({ breaches, names, reading }: {
  /** `undefined` while they are read. */
  breaches: readonly SlaBreach[] | undefined;
  /** Names of the SLAs by id, if there are several. */
  names?: ReadonlyMap<string, string>;
  reading: ListReading;
}) {
  const columns: readonly Column<SlaBreach>[] = names
    ? [
      { title: "SLA", cell: ({ sla_id: id }) => <Text>{names.get(id) ?? "–"}</Text> },
      ...COLUMNS,
    ]
    : COLUMNS;
  return (
    <Listing
      name="Breaches"
      columns={columns}
      rows={breaches}
      reading={reading}
      empty={names ? "No SLA has been breached." : "This SLA has never been breached."}
    />
  );
}
