/** The networks and links of a container as keys of a service. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { namespaceOf, type ServiceContext } from "./context.ts";
import { given, type Part } from "./part.ts";

/** Keys of networks and links. */
export function networkingOf(inspect: ContainerInspect, context: ServiceContext): Part {
  const { key, networkKey, project, warn } = context;
  const { Config, Id, Name, HostConfig: { NetworkMode: mode = "" }, NetworkSettings } = inspect;
  if (/^(?:host|none|container:.*)$/.test(mode)) {
    return { network_mode: namespaceOf(mode, context) };
  }
  const attached = Object.entries(NetworkSettings.Networks ?? {});
  const networks = attached.filter(([network]) => network !== "bridge");
  if (networks.length < attached.length) {
    if (networks.length === 0) return { network_mode: "bridge", ...linksOf(inspect, context) };
    warn(`${key} is also on the engine's default network, which a service cannot join`);
  }
  const automatic = [key, Id.slice(0, 12), Name.replace(/^\//, ""), Config.Hostname];
  const joined = networks.map(([network, { Aliases, IPAMConfig, DriverOpts }]) => {
    const settings = given({
      aliases: [...new Set(Aliases ?? [])].filter((alias) => !automatic.includes(alias)),
      ipv4_address: IPAMConfig?.IPv4Address,
      ipv6_address: IPAMConfig?.IPv6Address,
      link_local_ips: IPAMConfig?.LinkLocalIPs,
      driver_opts: DriverOpts,
    });
    return [networkKey(network), Object.keys(settings).length > 0 ? settings : null] as const;
  });
  const links = linksOf(inspect, context);
  if (project !== undefined && joined.length === 1) {
    const [name, settings] = joined[0]!;
    if (name === "default" && settings === null) return links;
  }
  if (joined.length === 0) return { network_mode: "none" };
  return {
    networks: joined.every(([, settings]) => settings === null)
      ? joined.map(([name]) => name)
      : Object.fromEntries(joined),
    ...links,
  };
}

/** Links to services of the file, and to other containers. */
function linksOf(
  { HostConfig, NetworkSettings }: ContainerInspect,
  { serviceOf, nameOf }: ServiceContext,
): Part {
  const texts = [
    ...HostConfig.Links ?? [],
    ...Object.values(NetworkSettings.Networks ?? {}).flatMap(({ Links }) => Links ?? []),
  ];
  const links = new Set<string>();
  const external = new Set<string>();
  for (const text of texts) {
    const [container = "", target = container] = text.replace(/^\//, "").split(":");
    const alias = target.slice(target.lastIndexOf("/") + 1);
    const service = serviceOf(container);
    if (service === undefined) external.add(`${nameOf(container)}:${alias}`);
    // Compose links the service's containers by their names as well.
    else if (alias !== nameOf(container) && !/[-_]\d+$/.test(alias)) {
      links.add(alias === service ? service : `${service}:${alias}`);
    }
  }
  return given({ links: [...links], external_links: [...external] });
}
