/** Differences of networks and volumes that exist. @module */

import type { Network as EngineNetwork } from "../../../engine/networks.ts";
import type { Volume as EngineVolume } from "../../../engine/volumes.ts";
import type { Network, Volume } from "../load/project_keys.ts";

/** Settings of a network in the file that the one of the engine does not have. */
export function networkDifferences(
  { driver, driver_opts, ipam, internal, attachable, enable_ipv6, labels }: Network,
  found: EngineNetwork,
): string[] {
  const subnets = (ipam?.config ?? []).map(({ subnet }) => subnet);
  const foundSubnets = (found.IPAM?.Config ?? []).map(({ Subnet }) => Subnet);
  return [
    ...compare("driver", driver, found.Driver),
    ...compareFlag("internal", internal, found.Internal),
    ...compareFlag("attachable", attachable, found.Attachable),
    ...compareFlag("enable_ipv6", enable_ipv6, found.EnableIPv6),
    ...compareMap("driver_opts", driver_opts, found.Options),
    ...compareMap("labels", labels, found.Labels),
    ...compare("ipam.driver", ipam?.driver, found.IPAM?.Driver),
    ...subnets.filter((subnet) => subnet && !foundSubnets.includes(subnet))
      .map((subnet) => `ipam: subnet ${subnet} is missing`),
  ];
}

/** Ranges of addresses. The engine may write them in another form, so that no network is changed for them. */
export const rangeDifferences = ({ ipam }: Network, found: EngineNetwork): string[] =>
  (ipam?.config ?? []).flatMap(({ subnet, gateway, ip_range }) => {
    const same = found.IPAM?.Config?.find(({ Subnet }) => Subnet === subnet);
    return same
      ? [
        ...compare("ipam.gateway", gateway, same.Gateway),
        ...compare("ipam.ip_range", ip_range, same.IPRange),
      ]
      : [];
  });

/** Settings of a volume in the file that the one of the engine does not have. */
export const volumeDifferences = (
  { driver, driver_opts, labels }: Volume,
  found: EngineVolume,
): string[] => [
  ...compare("driver", driver, found.Driver),
  ...compareMap("driver_opts", driver_opts, found.Options),
  ...compareMap("labels", labels, found.Labels),
];

const compare = (key: string, wanted: string | undefined, found: string | undefined) =>
  wanted === undefined || wanted === "default" || wanted === found
    ? []
    : [`${key} ${found ?? "is not set"} instead of ${wanted}`];

const compareFlag = (key: string, wanted: boolean | undefined, found: boolean | undefined) =>
  wanted === undefined || wanted === (found ?? false) ? [] : [`${key} is not ${wanted}`];

/** Values of options may be credentials, e.g. of a network share. */
const compareMap = (
  key: string,
  wanted: Record<string, string> | undefined,
  found: Record<string, string> | null | undefined,
) =>
  Object.entries(wanted ?? {}).filter(([name, value]) => found?.[name] !== value)
    .map(([name]) => `${key}: ${name} is ${found?.[name] === undefined ? "missing" : "different"}`);
