/** The difference between a snapshot and another one at the same target. @module */

import type { BackupDiff, BackupSnapshot } from "../../api/types.ts";
import { plain, relativeTime } from "../../base/text.ts";
import type { Column } from "../../components/columns.tsx";
import { Listing } from "../../components/listing.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { QuerySelect } from "../../components/search.tsx";
import { Badge } from "../../components/states.tsx";
import { now } from "../../components/time.tsx";
import { query } from "../../state/router.ts";
import { useSnapshots } from "./reading.ts";
import { shortId } from "./snapshot_text.ts";

type Change = BackupDiff["changes"][number];

const CHANGES = {
  added: { name: "Added", tone: "good" },
  removed: { name: "Removed", tone: "bad" },
  content: { name: "Content", tone: "warn" },
  metadata: { name: "Owner, mode or time", tone: "idle" },
} as const;

/** Nothing without another snapshot that has one of the volumes. */
export function Differences({ snapshot }: { snapshot: BackupSnapshot }) {
  const { id, target, volumes } = snapshot;
  const list = useSnapshots(target).data.value;
  const others = list?.snapshots.filter((each) =>
    each.id !== id && each.volumes.some((name) => volumes.includes(name))
  );
  const other = query.value.get("with");
  const reading = useRead(
    "GET /api/backup/snapshots/{id}/diff/{other}",
    other ? { path: { id: other, other: id }, query: { target } } : undefined,
  );
  const diff = reading.data.value;
  if (!others?.length) return null;
  return (
    <Section title="Differences" wide>
      <div class="filters">
        <QuerySelect
          name="Compare with"
          param="with"
          all="Compare with another snapshot"
          options={others.map(({ id, time, note }) => ({
            value: id,
            name: `${shortId(id)}, ${relativeTime(Date.parse(time), now.value)}${
              note === null ? "" : `, ${note}`
            }`,
          }))}
        />
      </div>
      {other && (
        <p class="muted">
          Changes from <code>{shortId(other)}</code> to <code>{shortId(id)}</code>
        </p>
      )}
      {other && (
        <Listing
          name="Differences"
          columns={COLUMNS}
          rows={diff?.changes}
          keyOf={({ path, change }) => `${change} ${path}`}
          nameOf={({ path }) => plain(path)}
          reading={reading}
          empty="Both snapshots have the same files."
        />
      )}
      {other && diff?.truncated && (
        <p class="newest muted">
          The first {diff.changes.length.toLocaleString("en")} differences are shown.
        </p>
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<Change>[] = [
  { title: "Path", cell: ({ path }) => <code class="wrap">{plain(path)}</code> },
  {
    title: "Change",
    cell: ({ change }) => <Badge tone={CHANGES[change].tone}>{CHANGES[change].name}</Badge>,
    sort: ({ change }) => change,
    width: "w-l",
  },
];
