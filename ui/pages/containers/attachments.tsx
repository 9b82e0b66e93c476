/** Mounts and networks of a container. @module */

import { Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import type { TabProps } from "./tab.ts";
import { WholeText } from "./texts.tsx";

export function Mounts({ container: { mounts } }: TabProps) {
  if (mounts.length === 0) return <Empty>The container has no mounts.</Empty>;
  return (
    <Table
      name="Mounts"
      hasTallRows
      columns={[
        {
          title: "Type",
          cell: ({ type }) => type,
          sort: ({ type }) => type,
          wide: true,
          width: "w-s",
        },
        {
          title: "Source",
          cell: ({ name, source }) => <WholeText>{name ?? source}</WholeText>,
          sort: ({ name, source }) => name ?? source,
        },
        {
          title: "Target",
          cell: ({ destination }) => <WholeText>{destination}</WholeText>,
          sort: ({ destination }) => destination,
        },
        {
          title: "Access",
          cell: ({ readOnly }) => readOnly ? "Read-only" : "Read-write",
          width: "w-s",
        },
      ]}
      rows={mounts}
      keyOf={({ destination }) => destination}
      defaultSort="target"
    />
  );
}

export function Networks({ container: { networkSettings } }: TabProps) {
  if (networkSettings.length === 0) return <Empty>The container has no networks.</Empty>;
  return (
    <Table
      name="Networks"
      hasTallRows
      columns={[
        {
          title: "Name",
          cell: ({ name }) => <WholeText>{name}</WholeText>,
          sort: ({ name }) => name,
        },
        {
          title: "Address",
          cell: ({ ipv4, ipv6 }) => [ipv4, ipv6].filter(Boolean).join(", ") || "–",
        },
        { title: "Gateway", cell: ({ gateway }) => gateway || "–", wide: true },
        {
          title: "Aliases",
          cell: ({ aliases }) => <WholeText>{aliases.join(", ") || "–"}</WholeText>,
        },
      ]}
      rows={networkSettings}
      keyOf={({ networkId, name }) => networkId || name}
      defaultSort="name"
    />
  );
}
