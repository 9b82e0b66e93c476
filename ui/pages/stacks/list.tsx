/** Stacks: Compose projects and Swarm stacks. @module */

import type { Stack } from "../../api/types.ts";
import { LinkButton } from "../../components/button.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, State } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { href, navigate, query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { stackActions, STATUS_TONES, statusOf, useReloadOnStates } from "./actions.ts";

const COUNT = { numeric: true, wide: true, width: "w-s" } as const;

const COLUMNS: readonly Column<Stack>[] = [
  {
    title: "Name",
    cell: (stack) => {
      const link = <a class="name cut" href={href(stackPath(stack))}>{plain(stack.name)}</a>;
      return stack.kind === "swarm"
        ? (
          <span class="name-cell">
            {link}
            <Badge>Swarm</Badge>
          </span>
        )
        : link;
    },
    sort: ({ name }) => name,
  },
  {
    title: "Status",
    cell: (stack) => <State state={statusOf(stack)} tone={STATUS_TONES[stack.status]} />,
    sort: statusOf,
    width: "w-m",
  },
  {
    title: "Services",
    cell: ({ services }) => services,
    sort: ({ services }) => services,
    ...COUNT,
  },
  {
    title: "Running",
    cell: ({ running, containerCount }) => `${running} of ${containerCount}`,
    sort: ({ running }) => running,
    ...COUNT,
  },
  { title: "Stopped", cell: ({ stopped }) => stopped, sort: ({ stopped }) => stopped, ...COUNT },
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
  const mayWrite = hasRole("admin", "stacks:write");
  return (
    <Page
      title="Stacks"
      actions={mayWrite && (
        <>
          <LinkButton to="/takeover" icon="target">Take over</LinkButton>
          <LinkButton to="/stacks/new" kind="primary" icon="plus">New stack</LinkButton>
        </>
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
        reading={{ error, reload }}
        empty={`No stacks on this host yet. ${
          mayWrite ? "Write a Compose file, or start one elsewhere: what" : "What"
        } Compose or Swarm starts appears here.`}
        filter={q === "" ? undefined : {
          things: "stacks",
          onClear: () => setQuery({ q: undefined }),
        }}
        defaultSort="name"
      />
    </Page>
  );
}
