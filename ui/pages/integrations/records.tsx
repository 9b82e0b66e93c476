/** The newest data of an integration. @module */

import type { Integration, IntegrationRecord } from "../../api/types.ts";
import { ListingDialog } from "../../components/listing.tsx";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { capital, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";

const SHOWN_MAX = 100;

const COLUMNS: readonly Column<IntegrationRecord>[] = [
  { title: "Time", cell: ({ timestamp }) => <Time at={timestamp} />, width: "w-s" },
  { title: "Type", cell: ({ type }) => capital(type), width: "w-xs", wide: true },
  {
    title: "Name",
    cell: ({ name, labels, detail }) => (
      <span class="cut" title={plain(detail ?? labelsText(labels))}>{plain(name)}</span>
    ),
  },
  { title: "Labels", cell: ({ labels }) => <Text>{labelsText(labels)}</Text>, wide: true },
  {
    title: "Value",
    cell: ({ value, unit, status }) => <Text>{valueText(value, unit, status)}</Text>,
    numeric: true,
    width: "w-m",
  },
];

export function Records({ integration, onClose }: {
  integration: Integration;
  onClose: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/integrations/{id}/data", {
    path: { id: integration.id },
    query: { limit: SHOWN_MAX },
  });
  return (
    <ListingDialog
      title={`Data of ${plain(integration.name)}`}
      name="Data"
      columns={COLUMNS}
      rows={data.value?.data}
      total={data.value?.total}
      reading={{ error, reload }}
      empty="No data in the last 7 days."
      onClose={onClose}
    />
  );
}

const labelsText = (labels: Record<string, string>): string =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", ") || "–";

/** A metric has a value; an alert and an event have a status. */
function valueText(value: number | null, unit: string | null, status: string | null): string {
  if (status !== null) return status;
  if (value === null) return "–";
  const text = value.toLocaleString("en", { maximumFractionDigits: 3 });
  return unit === null ? text : `${text} ${unit}`;
}
