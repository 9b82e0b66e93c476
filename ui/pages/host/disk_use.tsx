/** Disk use of the engine, by kind. @module */

import type { DiskUsage } from "../../api/types.ts";
import { Link } from "../../components/button.tsx";
import { Section } from "../../components/page.tsx";
import { type Reading, useRead } from "../../components/reading.ts";
import { Failure } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { Table } from "../../components/table.tsx";
import { bytes } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";

const KINDS = [
  { name: "Containers", part: "containers", to: "/containers" },
  { name: "Images", part: "images", to: "/images" },
  { name: "Volumes", part: "volumes", to: "/volumes" },
  { name: "Build cache", part: "buildCache", to: undefined },
] as const;

type Row = (typeof KINDS)[number] & { count: number; size: number };

const COLUMNS: readonly Column<Row>[] = [
  { title: "Kind", cell: ({ name, to }) => to ? <Link to={to}>{name}</Link> : name },
  { title: "Count", cell: ({ count }) => count.toLocaleString("en"), numeric: true, width: "w-xs" },
  { title: "Size", cell: ({ size }) => bytes(size), numeric: true, width: "w-xs" },
];

export const useDiskUse = () => useRead("GET /api/system/disk", {});

export function DiskUse({ reading: { data, error, reload } }: { reading: Reading<DiskUsage> }) {
  const usage = data.value;
  return (
    <Section title="Disk use">
      {error.value ? <Failure error={error.value} onRetry={reload} /> : (
        <Table
          name="Disk use"
          columns={COLUMNS}
          rows={usage ? KINDS.map((kind) => ({ ...kind, ...usage[kind.part] })) : []}
          keyOf={({ name }) => name}
          busy={!usage}
        />
      )}
      {usage && (
        <p class="table-note muted">
          <span>
            {bytes(usage.totalSize)} in total, measured <Time at={usage.computedAt} />
          </span>
        </p>
      )}
    </Section>
  );
}
