/**
 * The columns of the images in use.
 *
 * @module
 */

import type { ImageUpdate } from "../../api/types.ts";
import { Badge, State, withBreaks } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { capital, imageName, plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { UsedBy } from "../used_by.tsx";

/** What each status is called, and its order in the table. */
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

const statusOf = (update: ImageUpdate) => isBlocked(update) ? BLOCKED : STATUSES[update.status];

/** E.g. `nginx:1.27` for `docker.io/library/nginx:1.27`. */
export const shortName = ({ image }: ImageUpdate): string =>
  imageName(image.replace(/^docker\.io\/(library\/)?/, ""));

/** Next to the state: why it is unknown, since when the update is known, or a newer version. */
function Remark({ update }: { update: ImageUpdate }) {
  const { reason, newerVersions, firstSeenAt, status, containers } = update;
  if (reason !== null) return <span class="muted cut">{plain(capital(reason))}</span>;
  const blocked = containers.filter(({ blocked }) => blocked).map(({ name }) => plain(name));
  if (isAvailable(update) && blocked.length > 0) {
    return <span class="muted cut">{`blocked for ${blocked.join(", ")}`}</span>;
  }
  if (status === "update_available" && isAvailable(update) && firstSeenAt !== null) {
    return (
      <span class="muted">
        <Time at={firstSeenAt} />
      </span>
    );
  }
  const [newest] = newerVersions;
  return newest
    ? <span class="muted cut">{`${plain(newest.tag)} (${newest.level}) exists`}</span>
    : null;
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
    title: "Containers",
    cell: ({ containers }) => <UsedBy names={containers.map(({ name }) => name)} />,
    sort: ({ containers }) => containers.length,
    wide: true,
  },
  {
    title: "Policy",
    cell: ({ containers }) => {
      const problems = containers.flatMap((container) => container.problems);
      const policies = [...new Set(containers.map(({ policy }) => policy))];
      return (
        <span title={problems.map(plain).join("\n") || undefined}>
          {policies.map((policy) => (
            <Badge key={policy} tone={problems.length > 0 ? "warn" : "idle"}>
              {policy === "auto" ? "Automatic" : capital(policy)}
            </Badge>
          ))}
        </span>
      );
    },
    wide: true,
    width: "w-m",
  },
  {
    title: "Checked",
    cell: ({ checkedAt }) => <Time at={checkedAt} />,
    sort: ({ checkedAt }) => checkedAt,
    wide: true,
    width: "w-m",
  },
];
