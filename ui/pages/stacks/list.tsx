/** Stacks: Compose projects and Swarm stacks. @module */

import type { Stack } from "../../api/types.ts";
import { LinkButton } from "../../components/button.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import type { Column } from "../../components/table.tsx";
import { writeLink, writeNumber, writeState } from "../../components/written_cells.ts";
import { stackPath } from "../../paths.ts";
import { href, navigate, query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { stackActions, STATUS_TONES, statusOf, useReloadOnStates } from "./actions.ts";

const SWARM = { text: "Swarm", tone: "idle" } as const;

const COLUMNS: readonly Column<Stack>[] = [
  {
    title: "Name",
    write: (cell, stack) =>
      writeLink(
        cell,
        stack.name,
        href(stackPath(stack)),
        stack.kind === "swarm" ? SWARM : undefined,
      ),
    sort: ({ name }) => name,
  },
  {
    title: "Status",
    write: (cell, stack) => writeState(cell, statusOf(stack), STATUS_TONES[stack.status]),
    sort: statusOf,
    width: "w-m",
  },
  {
    title: "Services",
    write: (cell, { services }) => writeNumber(cell, String(services)),
    sort: ({ services }) => services,
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Running",
    write: (cell, { running, containerCount }) =>
      writeNumber(cell, `${running} of ${containerCount}`),
    sort: ({ running }) => running,
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Stopped",
    write: (cell, { stopped }) => writeNumber(cell, String(stopped)),
    sort: ({ stopped }) => stopped,
    numeric: true,
    wide: true,
    width: "w-s",
  },
];

export default function Stacks() {
  const { data, error, reload } = useRead("GET /api/stacks", {});
  useReloadOnStates(reload);
  const q = (query.value.get("q") ?? "").toLowerCase();
  const rows = data.value?.stacks.filter(({ name }) => name.toLowerCase().includes(q));
  const menuOf = (stack: Stack): MenuItem[] => [
    ...stackActions(stack, reload).map(({ verb, run }) => ({ name: verb, onSelect: run })),
    { name: "Open", onSelect: () => navigate(stackPath(stack)) },
  ];
  return (
    <Page
      title="Stacks"
      actions={hasRole("admin", "stacks:write") && (
        <LinkButton to="/stacks/new" kind="primary" icon="plus">New stack</LinkButton>
      )}
    >
      <div class="filters" role="search" aria-label="Filters">
        <input
          type="search"
          aria-label="Filter stacks"
          placeholder="Filter by name"
          value={query.value.get("q") ?? ""}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
      </div>
      <Listing
        name="Stacks"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        nameOf={({ name }) => name}
        actions={menuOf}
        error={error.value}
        onRetry={reload}
        empty="No stacks on this host yet. Write a Compose file, or start one elsewhere: what Compose or Swarm starts appears here."
        filter={q === "" ? undefined : {
          things: "stacks",
          onClear: () => setQuery({ q: undefined }),
        }}
        defaultSort="name"
      />
    </Page>
  );
}
