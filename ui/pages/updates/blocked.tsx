/** Images that failed as an update of a container, and are not tried again. @module */

import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { api } from "../../api/client.ts";
import type { BlockedUpdate } from "../../api/types.ts";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Table } from "../../components/table.tsx";
import { imageName, plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

const COLUMNS: readonly Column<BlockedUpdate>[] = [
  textColumn("Container", ({ containerName }) => containerName),
  {
    title: "Blocked",
    cell: ({ digest, image }) =>
      digest === "*" ? "All updates" : (
        <span class="cut" title={digest}>
          {plain(image)} <code class="muted">{imageName(digest)}</code>
        </span>
      ),
  },
  {
    title: "Reason",
    cell: ({ reason }) => <span class="cut breaks">{plain(reason)}</span>,
    wide: true,
  },
  timeColumn("Since", ({ createdAt }) => createdAt, { wide: true, width: "w-m" }),
];

/** Nothing while nothing is blocked. */
export function Blocked() {
  const { data, reload } = useRead("GET /api/updates/blocked", {});
  useReloadOn("update.", reload);
  const blocked = data.value?.blocked;
  if (!blocked?.length) return null;
  const lift = async ({ id, containerName }: BlockedUpdate) => {
    const isDone = await withResult(
      `The image may be installed in ${plain(containerName)} again`,
      () => api("DELETE /api/updates/blocked/{id}", { path: { id } }),
    );
    if (isDone) reload();
  };
  return (
    <Section title="Blocked" wide>
      <Table
        name="Blocked updates"
        columns={COLUMNS}
        rows={blocked}
        keyOf={({ id }) => id}
        nameOf={({ containerName }) => `the block of ${containerName}`}
        {...(hasRole("operator", "containers:update") && {
          actions: (each: BlockedUpdate) => [{
            name: "Allow again",
            onSelect: () => void lift(each),
          }],
        })}
      />
    </Section>
  );
}
