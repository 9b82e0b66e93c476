/**
 * How a container joins networks, and its links, as text that can be compared.
 *
 * @module
 */

import type { ContainerInspect, EndpointSettings } from "../../../../engine/containers.ts";

export interface Link {
  /** The name of a container. */
  container: string;
  alias: string;
}

/** Links as the engine has them on the networks; on its default network, as paths. */
export function linksOf({ HostConfig, NetworkSettings }: ContainerInspect): Link[] {
  const links = [
    ...HostConfig.Links ?? [],
    ...Object.values(NetworkSettings.Networks ?? {}).flatMap(({ Links }) => Links ?? []),
  ];
  return links.map((link) => {
    const [container = "", alias = container] = link.split(":");
    return {
      container: container.replace(/^\//, ""),
      alias: alias.slice(alias.lastIndexOf("/") + 1),
    };
  });
}

export const aliasOf = (link: string) => link.slice(link.lastIndexOf(":") + 1);

/** Compose also links `db_1` and the name of the container. */
export const isNumbered = (alias: string, container: string) =>
  alias === container || (/[-_]\d+$/.test(alias) && /[-_]\d+$/.test(container) &&
    container.replaceAll("_", "-").endsWith(`-${alias.replaceAll("_", "-")}`));

type Addresses = EndpointSettings["IPAMConfig"] | {
  IPv4Address?: string | undefined;
  IPv6Address?: string | undefined;
  LinkLocalIPs?: string[] | undefined;
};

/** E.g. `address 192.0.2.2, alias db`. */
export const attachmentText = (
  aliases: readonly string[],
  addresses: Addresses,
  options: Record<string, string> | null | undefined,
) =>
  [
    ...[addresses?.IPv4Address, addresses?.IPv6Address, ...addresses?.LinkLocalIPs ?? []]
      .filter(Boolean).map((address) => `address ${address}`),
    ...[...new Set(aliases)].sort().map((alias) => `alias ${alias}`),
    ...Object.entries(options ?? {}).sort().map(([name, value]) => `${name}=${value}`),
  ].join(", ");
