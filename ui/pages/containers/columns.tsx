/** The columns of the containers table. @module */

import type { Container } from "../../api/types.ts";
import type { Column } from "../../components/table.tsx";
import { bytes, imageName, percent } from "../../base/text.ts";
import {
  writeLink,
  writeNumber,
  writePath,
  writeState,
  writeText,
  writeTime,
} from "../../components/written_cells.ts";
import { healthOf } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { outdated } from "./update_marks.ts";

const SELF = { text: "Longshore", tone: "idle" } as const;
const UPDATE = { text: "Update", tone: "warn" } as const;

export const COLUMNS: readonly Column<Container>[] = [
  {
    title: "Name",
    write: (cell, { id, name, self }) =>
      writeLink(cell, name, href(`/containers/${id.slice(0, 12)}`), self ? SELF : undefined),
    sort: ({ name }) => name,
    width: "w-name",
  },
  {
    title: "State",
    write: (cell, { state }) => writeState(cell, state),
    sort: ({ state }) => state,
    width: "w-s",
  },
  {
    title: "Health",
    write: (cell, container) => writeState(cell, healthOf(container)),
    sort: healthOf,
    wide: true,
    width: "w-s",
  },
  {
    title: "CPU",
    write: (cell, { cpuPercent }) => writeNumber(cell, percent(cpuPercent)),
    sort: ({ cpuPercent }) => cpuPercent,
    numeric: true,
    wide: true,
    width: "w-xs",
  },
  {
    title: "Memory",
    write: (cell, { memory }) => writeNumber(cell, bytes(memory)),
    sort: ({ memory }) => memory,
    numeric: true,
    wide: true,
    width: "w-xs",
  },
  {
    title: "Image",
    write: (cell, { id, image }) =>
      writePath(cell, imageName(image), outdated.value.has(id) ? UPDATE : undefined),
    sort: ({ image }) => image,
    wide: true,
  },
  {
    title: "Stack",
    write: (cell, { composeProject }) => writeText(cell, composeProject),
    sort: ({ composeProject }) => composeProject,
    wide: true,
    width: "w-s",
  },
  {
    title: "Ports",
    write: (cell, { ports }) => writeText(cell, publishedPorts(ports) || null),
    sort: ({ ports }) => ports.find(({ publicPort }) => publicPort !== null)?.publicPort,
    wide: true,
    width: "w-m",
  },
  {
    title: "Created",
    write: (cell, { createdAt }) => writeTime(cell, createdAt),
    sort: ({ createdAt }) => createdAt,
    wide: true,
    width: "w-s",
  },
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
