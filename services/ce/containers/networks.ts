/**
 * Networks with their attached containers.
 *
 * @module
 */

import { type Network as EngineNetwork, networkList } from "../../../engine/networks.ts";
import type { Container } from "../../state/inventory.ts";
import { engineTime } from "../../state/engine_time.ts";
import type { ReadDeps } from "./reads.ts";
import { currentContainers } from "./containers.ts";

/** A container in a network; the addresses are `null` while it is not running. */
export interface AttachedContainer {
  id: string;
  name: string;
  ipv4: string | null;
  ipv6: string | null;
  mac: string | null;
}

export interface Network {
  id: string;
  name: string;
  driver: string;
  /** `local`, `swarm` or `global`. */
  scope: string;
  /** Whether it has no route out of the host. */
  internal: boolean;
  /** ISO 8601, UTC. */
  createdAt: string | null;
  /** E.g. `172.18.0.0/16`. */
  subnets: string[];
  containers: AttachedContainer[];
}

/** Networks by name. The containers come from the snapshot, because the engine's list has none. */
export async function listNetworks(deps: ReadDeps): Promise<Network[]> {
  const [networks, containers] = await Promise.all([
    networkList(deps.engine),
    currentContainers(deps),
  ]);
  const attached = attachedByNetwork(containers);
  return networks.map((network) => ({
    id: network.Id,
    name: network.Name,
    driver: network.Driver,
    scope: network.Scope,
    internal: network.Internal,
    createdAt: engineTime(network.Created),
    subnets: subnetsOf(network),
    containers: [
      ...attached.get(network.Id) ?? [],
      ...attached.get(network.Name) ?? [],
    ].sort(byName),
  })).sort(byName);
}

/** Grouped by network id, or by name for containers that never ran and have no network id. */
function attachedByNetwork(containers: readonly Container[]): Map<string, AttachedContainer[]> {
  const attached = new Map<string, AttachedContainer[]>();
  for (const { id, name, attachments } of containers) {
    for (const { networkId, network, ipv4, ipv6, mac } of attachments) {
      const key = networkId || network;
      const place = { id, name, ipv4: ipv4 || null, ipv6: ipv6 || null, mac: mac || null };
      const places = attached.get(key);
      if (places) places.push(place);
      else attached.set(key, [place]);
    }
  }
  return attached;
}

function subnetsOf({ IPAM }: EngineNetwork): string[] {
  return (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []);
}

function byName(a: { name: string; id: string }, b: { name: string; id: string }): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
