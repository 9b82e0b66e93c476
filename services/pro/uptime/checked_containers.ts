/** Containers that a monitor checks. @module */

import type { StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { isLoopbackHost } from "../../outbound/address.ts";
import { parseHostPort } from "./probe.ts";

/**
 * Returns the names of the containers behind the address of a monitor: by name, by an address in a
 * network of the engine, or by a port that is published on this host. Without any, the field is
 * missing.
 */
export function checkedContainers(
  { inventory }: Pick<Deps, "inventory">,
  { type, url }: Pick<StoredMonitor, "type" | "url">,
): { containers?: string[] } {
  const address = type === "http"
    ? addressOf(url)
    : type === "tcp"
    ? parseHostPort(url)
    : undefined;
  if (!address) return {};
  const { host, port } = address;
  const isHere = isLoopbackHost(host);
  const containers = inventory.listFollowed().filter(({ attachments, name, ports }) =>
    name === host || attachments.some(({ ipv4, ipv6 }) => ipv4 === host || ipv6 === host) ||
    isHere && ports.some(({ publicPort, type }) => publicPort === port && type === "tcp")
  ).map(({ name }) => name);
  return containers.length === 0 ? {} : { containers };
}

function addressOf(url: string): { host: string; port: number } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
