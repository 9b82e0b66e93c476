/**
 * The columns of the containers table.
 *
 * @module
 */

import type { Container } from "../../api/types.ts";
import { Badge, State } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { bytes, imageName, percent, plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { healthOf } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { PathText } from "./texts.tsx";
import { outdated } from "./update_marks.ts";

/** Characters of a name and of an image that fit where their columns are narrowest. */
const NAME_FITS = 20;
const IMAGE_FITS = 10;

export const COLUMNS: readonly Column<Container>[] = [
  {
    title: "Name",
    cell: ({ id, name, self }) => {
      const link = (
        <a
          class="name cut"
          href={href(`/containers/${id.slice(0, 12)}`)}
          title={name.length > NAME_FITS ? plain(name) : undefined}
        >
          {plain(name)}
        </a>
      );
      return self
        ? (
          <span class="name-cell">
            {link}
            <Badge>Longshore</Badge>
          </span>
        )
        : link;
    },
    sort: ({ name }) => name,
    width: "w-name",
  },
  {
    title: "State",
    cell: ({ state }) => <State state={state} />,
    sort: ({ state }) => state,
    width: "w-s",
  },
  {
    title: "Health",
    cell: (container) => {
      const health = healthOf(container);
      return health ? <State state={health} /> : undefined;
    },
    text: () => null,
    sort: healthOf,
    wide: true,
    width: "w-s",
  },
  {
    title: "CPU",
    cell: ({ cpuPercent }) => percent(cpuPercent),
    sort: ({ cpuPercent }) => cpuPercent,
    numeric: true,
    wide: true,
    width: "w-xs",
  },
  {
    title: "Memory",
    cell: ({ memory }) => bytes(memory),
    sort: ({ memory }) => memory,
    numeric: true,
    wide: true,
    width: "w-xs",
  },
  {
    title: "Image",
    cell: ({ id, image }) => {
      const name = imageName(image);
      if (outdated.value.has(id)) {
        return (
          <span class="name-cell">
            <PathText>{name}</PathText>
            <Badge tone="warn">Update</Badge>
          </span>
        );
      }
      return name.length > IMAGE_FITS ? <PathText>{name}</PathText> : undefined;
    },
    text: ({ image }) => imageName(image),
    sort: ({ image }) => image,
    wide: true,
  },
  {
    title: "Stack",
    text: ({ composeProject }) => composeProject,
    sort: ({ composeProject }) => composeProject,
    wide: true,
    width: "w-s",
  },
  {
    title: "Ports",
    text: ({ ports }) => publishedPorts(ports) || null,
    sort: ({ ports }) => ports.find(({ publicPort }) => publicPort !== null)?.publicPort,
    wide: true,
    width: "w-s",
  },
  {
    title: "Created",
    cell: ({ createdAt }) => <Time at={createdAt} />,
    sort: ({ createdAt }) => createdAt,
    wide: true,
    width: "w-s",
  },
];

/** E.g. `8080→80, 53→53/udp`; IPv4 and IPv6 count as one. */
export function publishedPorts(ports: Container["ports"]): string {
  const shown = ports.filter(({ publicPort }) => publicPort !== null)
    .map(({ publicPort, privatePort, type }) =>
      `${publicPort}→${privatePort}${type === "tcp" ? "" : `/${type}`}`
    );
  return [...new Set(shown)].join(", ");
}
