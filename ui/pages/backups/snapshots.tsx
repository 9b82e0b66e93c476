/** Tab of the snapshots of all targets, newest first. @module */

import { api } from "../../api/client.ts";
import type { BackupSnapshot } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { type Column, numberColumn, textColumn, timeColumn } from "../../components/columns.tsx";
import { deleteItem, type Deletion } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { QuerySelect } from "../../components/search.tsx";
import { href, navigate, query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { dayOf } from "../../base/month.ts";
import { Calendar } from "./calendar.tsx";
import { useSnapshots } from "./reading.ts";
import { RestoreDialog } from "./restore.tsx";
import { contentOf, isRestorable, reasonOf, shortId, snapshotPath } from "./snapshot_text.ts";
import { UnreadTargets } from "./unread.tsx";

export function Snapshots() {
  const reading = useSnapshots();
  const dialog = useDialog();
  const list = reading.data.value;
  const [stack, target, day = null] = ["stack", "target", "day"].map((name) =>
    query.value.get(name)
  );
  const chosen = list?.snapshots.filter((each) =>
    (!stack || each.stack === stack) && (!target || each.target === target)
  );
  const rows = day ? chosen?.filter(({ time }) => dayOf(new Date(time)) === day) : chosen;
  const restore = (snapshot: BackupSnapshot) => dialog.open(RestoreDialog, { snapshot });
  return (
    <>
      <UnreadTargets list={list} />
      <div class="filters" role="search" aria-label="Filters">
        <QuerySelect
          name="Stack"
          param="stack"
          all="All stacks and volumes"
          options={optionsOf(list?.snapshots.flatMap(({ stack }) => stack ?? []), stack)}
        />
        <QuerySelect
          name="Target"
          param="target"
          all="All targets"
          options={optionsOf(list?.targets.map(({ name }) => name), target)}
        />
      </div>
      {chosen && chosen.length > 0 && <Calendar snapshots={chosen} day={day} />}
      <Listing
        name="Snapshots"
        columns={COLUMNS}
        rows={rows}
        total={stack || target || day ? undefined : list?.total}
        keyOf={({ id, target }) => `${id} ${target}`}
        nameOf={({ id }) => shortId(id)}
        actions={(snapshot) => [
          { name: "Open", onSelect: () => navigate(snapshotPath(snapshot)) },
          ...restoreItem(snapshot, restore),
          ...snapshot.isOwn && hasRole("admin", "backup:write")
            ? [deleteItem(snapshot, DELETION, reading.reload)]
            : [],
        ]}
        reading={reading}
        empty="No snapshots yet. The tab Stacks makes one, and so does longshore backup-volumes."
        filter={stack || target || day
          ? {
            things: "snapshots",
            onClear: () => setQuery({ stack: undefined, target: undefined, day: undefined }),
          }
          : undefined}
        defaultSort="-made"
        hasTallRows
      />
      {dialog.shown}
    </>
  );
}

/** The values that rows have, and the chosen one, so that it can be changed. */
const optionsOf = (names: readonly string[] | undefined, chosen: string | null | undefined) =>
  [...new Set([...names ?? [], ...chosen ? [chosen] : []])].sort()
    .map((name) => ({ value: name, name }));

const restoreItem = (
  snapshot: BackupSnapshot,
  restore: (snapshot: BackupSnapshot) => void,
): MenuItem[] =>
  isRestorable(snapshot) && hasRole("admin", "backup:write")
    ? [{ name: "Restore", onSelect: () => restore(snapshot) }]
    : [];

export const DELETION: Deletion<BackupSnapshot> = {
  nameOf: ({ id }) => `snapshot ${shortId(id)}`,
  consequence: (snapshot) =>
    `The snapshot of ${plain(contentOf(snapshot))} at ${plain(snapshot.target)} is deleted and ` +
    "cannot be restored any more. Its data stays at the target until it is pruned.",
  work: ({ id, target }) =>
    api("DELETE /api/backup/snapshots/{id}", { path: { id }, query: { target } }),
};

const COLUMNS: readonly Column<BackupSnapshot>[] = [
  {
    title: "Content",
    cell: (snapshot) => (
      <>
        <span class="name-cell">
          <a class="cut" href={href(snapshotPath(snapshot))}>{plain(contentOf(snapshot))}</a>
        </span>
        {snapshot.note !== null && <p class="hint">{plain(snapshot.note)}</p>}
        <p class="hint narrow-only">{plain(reasonOf(snapshot))}</p>
      </>
    ),
    sort: contentOf,
  },
  timeColumn("Made", ({ time }) => time, { width: "w-s" }),
  {
    title: "Reason",
    cell: (snapshot) => <span class="cut breaks">{plain(reasonOf(snapshot))}</span>,
    sort: reasonOf,
    wide: true,
    width: "w-m",
  },
  textColumn("Host", ({ hostname }) => hostname, { wide: true, width: "w-m" }),
  textColumn("Target", ({ target }) => target, { wide: true, width: "w-m" }),
  numberColumn("Size", ({ size }) => size, bytes, { wide: true, width: "w-s" }),
  textColumn("ID", ({ id }) => shortId(id), { wide: true, width: "w-s" }),
];
