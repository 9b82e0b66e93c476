/** The columns of the images in use. @module */

import type { ImageUpdate } from "../../api/types.ts";
import { Badge, State, type Tone, withBreaks } from "../../components/states.tsx";
import { type Column, timeColumn } from "../../components/columns.tsx";
import { capital, imageName, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { UsedBy } from "../../parts/used_by.tsx";

/** Name of each status, and its order in the table. */
const STATUSES = {
  update_available: { name: "Update available", tone: "warn", rank: 0 },
  pulled: { name: "Pulled, not applied", tone: "warn", rank: 1 },
  unknown: { name: "Unknown", tone: "idle", rank: 2 },
  up_to_date: { name: "Up to date", tone: "good", rank: 3 },
  pinned: { name: "Pinned", tone: "idle", rank: 4 },
  local: { name: "Local image", tone: "idle", rank: 5 },
} as const;

const BLOCKED = { name: "Blocked", tone: "bad", rank: 0 } as const;

const isNewer = ({ status }: ImageUpdate) => status === "update_available" || status === "pulled";

/** Whether the newer image failed in all containers, so that it is not tried again. */
const isBlocked = (update: ImageUpdate) =>
  isNewer(update) && update.containers.every(({ blocked }) => blocked);

/** Whether there is a newer image that may be installed. */
export const isAvailable = (update: ImageUpdate): boolean => isNewer(update) && !isBlocked(update);

/** Name and tone of a status, which can be one of another version of this program. */
export const wordOf = (status: string): { name: string; tone: Tone } =>
  (STATUSES as Record<string, { name: string; tone: Tone }>)[status] ??
    { name: status, tone: "idle" };

const statusOf = (update: ImageUpdate) => isBlocked(update) ? BLOCKED : STATUSES[update.status];

/** E.g. `nginx:1.27` for `docker.io/library/nginx:1.27`. */
export const shortName = ({ image }: Pick<ImageUpdate, "image">): string =>
  imageName(image.replace(/^docker\.io\/(library\/)?/, ""));

/** Next to the state: why it is unknown, what is blocked, or since when the update is known. */
function Remark({ update }: { update: ImageUpdate }) {
  const { reason, firstSeenAt, containers } = update;
  if (reason !== null) return <span class="muted">{plain(capital(reason))}</span>;
  if (!isAvailable(update)) return null;
  const blocked = containers.filter(({ blocked }) => blocked).map(({ name }) => plain(name));
  if (blocked.length > 0) {
    return <span class="muted">{`blocked for ${blocked.join(", ")}`}</span>;
  }
  return firstSeenAt === null ? null : (
    <span class="muted">
      <Time at={firstSeenAt} />
    </span>
  );
}

function Digest({ digest }: { digest: string | null }) {
  if (digest === null) return <span class="muted">–</span>;
  return <code title={digest}>{imageName(digest)}</code>;
}

/** The newer image of the same tag, and the newest version. */
function Available({ update }: { update: ImageUpdate }) {
  const { latestDigest, newerVersions: [newest] } = update;
  if (!newest) return <Digest digest={isNewer(update) ? latestDigest : null} />;
  return (
    <span class="outcome">
      {isNewer(update) && <Digest digest={latestDigest} />}
      <span class="cut">
        {plain(newest.tag)} <span class="muted">{newest.level}</span>
      </span>
    </span>
  );
}

/** Policies other than the usual one, and labels with problems. */
function Policies({ containers }: Pick<ImageUpdate, "containers">) {
  const problems = containers.flatMap((container) => container.problems);
  const policies = new Set(containers.map(({ policy }) => policy));
  return (
    <>
      {policies.has("auto") && <Badge>Automatic</Badge>}
      {policies.has("off") && <Badge>Off</Badge>}
      {problems.length > 0 && (
        <span title={problems.map(plain).join("\n")}>
          <Badge tone="warn">Invalid label</Badge>
        </span>
      )}
    </>
  );
}

export const COLUMNS: readonly Column<ImageUpdate>[] = [
  {
    title: "Image",
    cell: (update) => (
      <span class="name-cell">
        <span class="cut breaks" title={plain(update.image)}>{withBreaks(shortName(update))}</span>
      </span>
    ),
    sort: shortName,
  },
  {
    title: "Status",
    cell: (update) => {
      const { name, tone } = statusOf(update);
      return (
        <span class="outcome">
          <State state={name} tone={tone} />
          <Remark update={update} />
        </span>
      );
    },
    sort: (update) => statusOf(update).rank,
  },
  {
    title: "Current",
    cell: ({ digest }) => <Digest digest={digest} />,
    wide: true,
    width: "w-m",
  },
  {
    title: "Available",
    cell: (update) => <Available update={update} />,
    wide: true,
    width: "w-m",
  },
  {
    title: "Containers",
    cell: ({ containers }) => (
      <span class="outcome">
        <UsedBy names={containers.map(({ name }) => name)} />
        <Policies containers={containers} />
      </span>
    ),
    sort: ({ containers }) => containers.length,
    wide: true,
  },
  timeColumn("Checked", ({ checkedAt }) => checkedAt, { wide: true, width: "w-s" }),
];
