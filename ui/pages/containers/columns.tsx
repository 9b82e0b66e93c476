/** The columns of the containers table. @module */

import { computed } from "@preact/signals";
import type { Container } from "../../api/types.ts";
import {
  barLook,
  type Column,
  numberColumn,
  stateColumn,
  textColumn,
  timeColumn,
} from "../../components/columns.tsx";
import { Badge } from "../../components/states.tsx";
import { bytes, imageName, percent, plain } from "../../base/text.ts";
import { healthOf, host, stackOf } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { ContainerIcon } from "../../parts/container_icon.tsx";
import { Incomplete } from "../../parts/incomplete.tsx";
import { linksOf, OpenLink } from "../../parts/links.tsx";
import { PathText } from "./texts.tsx";
import { outdated } from "./update_marks.ts";

/** Capacity of the host. Its other figures change with each sample, and would draw all rows again. */
const cores = computed(() => host.value?.cpuCount);
const memoryTotal = computed(() => host.value?.memory.total);

/** Shares of the container's limit, or of the host. */
const cpuShare = ({ cpuPercent, cpuLimit }: Container) =>
  shareOf(cpuPercent, 100 * (cpuLimit ?? cores.value ?? NaN));
const memoryShare = ({ memory, memoryLimit }: Container) =>
  shareOf(memory, memoryLimit ?? memoryTotal.value ?? NaN);

const shareOf = (used: number | null, total: number): number | null =>
  used === null || !(total > 0) ? null : used / total;

/** The column that is off at first: few containers have a group. */
export const GROUP = "Group";

export const COLUMNS: readonly Column<Container>[] = [
  {
    title: "Name",
    cell: (container) => {
      const { description, icon, id, name, self, warning } = container;
      const link = (
        <a
          class="name cut"
          href={href(`/containers/${id.slice(0, 12)}`)}
          title={description === null ? undefined : plain(description)}
        >
          {plain(name)}
        </a>
      );
      return self || warning || icon !== null || linksOf(container).length > 0
        ? (
          <span class="name-cell">
            <ContainerIcon id={icon} />
            {link}
            {self && <Badge>Longshore</Badge>}
            <Incomplete warning={warning} />
            <OpenLink container={container} />
          </span>
        )
        : link;
    },
    sort: ({ name }) => name,
    width: "w-name",
  },
  stateColumn("State", ({ state }) => state, { secondLine: true, width: "w-s" }),
  stateColumn("Health", healthOf, { wide: true, secondLine: true, width: "w-s" }),
  numberColumn("CPU", ({ cpuPercent }) => cpuPercent, percent, {
    look: (container) => barLook(cpuShare(container)),
    ...{ wide: true, secondLine: true, width: "w-xs" },
  }),
  numberColumn("Memory", ({ memory }) => memory, bytes, {
    look: (container) => barLook(memoryShare(container)),
    ...{ wide: true, secondLine: true, width: "w-xs" },
  }),
  {
    title: "Image",
    cell: ({ id, image }) => {
      if (!outdated.value.has(id)) return <bdi>{imageName(image)}</bdi>;
      return (
        <span class="name-cell">
          <PathText>{imageName(image)}</PathText>
          <Badge tone="warn">Update</Badge>
        </span>
      );
    },
    look: ({ id }) => outdated.value.has(id) ? undefined : { class: "cut", dir: "rtl" },
    sort: ({ image }) => image,
    wide: true,
  },
  textColumn("Stack", stackOf, { wide: true, width: "w-s" }),
  textColumn(GROUP, ({ group }) => group, { wide: true, width: "w-s" }),
  {
    ...textColumn<Container>("Ports", ({ ports }) => publishedPorts(ports) || null),
    sort: ({ ports }) => ports.find(({ publicPort }) => publicPort !== null)?.publicPort,
    wide: true,
    width: "w-m",
  },
  timeColumn("Created", ({ createdAt }) => createdAt, { wide: true, width: "w-s" }),
];

/**
 * E.g. `8080→80, local:53→53/udp`, where `local` stands for the loopback addresses. Ports of all
 * addresses have none, so that IPv4 and IPv6 count as one.
 */
export function publishedPorts(ports: Container["ports"]): string {
  if (ports.length === 0) return "";
  const shown = ports.filter(({ publicPort }) => publicPort !== null)
    .map(({ ip, publicPort, privatePort, type }) =>
      `${addressOf(ip)}${publicPort}→${privatePort}${type === "tcp" ? "" : `/${type}`}`
    );
  return [...new Set(shown)].join(", ");
}

function addressOf(ip: string | null): string {
  if (!ip || ip === "0.0.0.0" || ip === "::") return "";
  if (ip === "::1" || ip.startsWith("127.")) return "local:";
  return ip.includes(":") ? `[${ip}]:` : `${ip}:`;
}
