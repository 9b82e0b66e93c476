/** Networks with their attached containers: list, create, remove. @module */

import { EngineError, RefusedCallError } from "../../engine/errors.ts";
import {
  type Network as EngineNetwork,
  networkCreate,
  networkInspect,
  networkList,
  networkRemove,
} from "../../engine/networks.ts";
import { includesAddress, parseAddress, parseNetwork } from "../ip_address.ts";
import { AppError, notFound } from "../errors.ts";
import type { Container } from "./inventory.ts";
import { engineTime } from "./engine_time.ts";
import type { ReadDeps } from "./reads.ts";
import { currentContainers } from "./containers.ts";
import { shownLabels, shownName } from "./shown_labels.ts";
import { warningOf } from "./unreadable.ts";

/** A container in a network; the addresses are `null` while it is not running. */
interface AttachedContainer {
  id: string;
  name: string;
  ipv4: string | null;
  ipv6: string | null;
  mac: string | null;
}

interface Network {
  id: string;
  name: string;
  driver: string;
  /** `local`, `swarm` or `global`. */
  scope: string;
  /** Whether it has no route out of the host. */
  internal: boolean;
  /** Whether containers outside of a swarm service can join it; only for swarm networks. */
  attachable: boolean;
  /** ISO 8601, UTC. */
  createdAt: string | null;
  /** E.g. `172.18.0.0/16`. */
  subnets: string[];
  /** E.g. `172.18.0.1`; empty if the engine does not report them. */
  gateways: string[];
  labels: Record<string, string>;
  containers: AttachedContainer[];
  /** Why it was not read in full; `null` for nearly all. */
  warning: string | null;
}

/**
 * Networks by name; for an API token with a scope, those of its containers. The containers come from
 * the snapshot, because the engine's list has none.
 */
export async function listNetworks(deps: ReadDeps): Promise<Network[]> {
  const [networks, containers] = await Promise.all([
    networkList(deps.engine),
    currentContainers(deps),
  ]);
  const attached = attachedByNetwork(containers);
  return networks.map((network) => toNetwork(network, attached))
    .filter(({ containers }) => !deps.inventory.scope || containers.length > 0)
    .sort(byName);
}

interface NewNetwork {
  name: string;
  /** E.g. `bridge`. */
  driver: string;
  internal: boolean;
  attachable: boolean;
  subnet?: string | undefined;
  gateway?: string | undefined;
  labels: Record<string, string>;
}

/**
 * Creates a network. An IPv6 subnet enables IPv6.
 *
 * @throws {AppError} `invalid` for addresses that are not usable, and a driver that the engine does
 * not have; `conflict` for a name in use, a subnet that overlaps with another network, and whatever
 * else the engine refuses.
 */
export async function createNetwork(
  deps: ReadDeps,
  { name, driver, internal, attachable, subnet, gateway, labels }: NewNetwork,
): Promise<Network> {
  const isIpv6 = checkAddresses(subnet, gateway);
  const body = {
    Name: name,
    Driver: driver,
    Internal: internal,
    Attachable: attachable,
    EnableIPv6: isIpv6,
    ...(subnet !== undefined && {
      IPAM: { Config: [{ Subnet: subnet, ...(gateway !== undefined && { Gateway: gateway }) }] },
    }),
    Labels: labels,
  };
  try {
    const id = await networkCreate(deps.engine, { body });
    return toNetwork(await networkInspect(deps.engine, id), new Map());
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const cause = { cause: error };
    if (subnet !== undefined && /overlap|subnet \S+ is already used/i.test(error.message)) {
      throw new AppError("conflict", `Subnet ${subnet} overlaps with another network`, cause);
    }
    if (/already exists/i.test(error.message)) {
      throw new AppError("conflict", `Network ${name} already exists`, cause);
    }
    throw creationError(error, driver);
  }
}

/**
 * Removes a network that no container is attached to. Stopped containers count, because they could
 * not start without it.
 *
 * @param ref Id, unambiguous prefix of an id, or name.
 * @throws {AppError} `not_found`; `conflict` if a container uses it, or it is a predefined network.
 */
export async function removeNetwork(
  deps: ReadDeps,
  ref: string,
): Promise<{ ok: true; id: string; name: string }> {
  try {
    const network = await networkInspect(deps.engine, ref);
    const { Id: id, Name: name } = network;
    const attached = attachedByNetwork(await currentContainers(deps));
    const users = [...attached.get(id) ?? [], ...attached.get(name) ?? []].sort(byName);
    if (users.length > 0) {
      const names = users.map((user) => user.name).join(", ");
      throw new AppError("conflict", `Network ${name} is in use by ${names}`);
    }
    await networkRemove(deps.engine, network);
    return { ok: true, id, name };
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) throw notFound("Network", ref);
    throw error;
  }
}

/**
 * Turns the engine's various statuses for a network or volume that cannot be created into the
 * caller's error.
 */
export function creationError(error: EngineError, driver: string): AppError | EngineError {
  if (error instanceof RefusedCallError) return error;
  const cause = { cause: error };
  if (NO_DRIVER.test(error.message)) {
    return new AppError("invalid", `body.driver: the engine has no driver ${driver}`, cause);
  }
  // Docker answers 404 when it has no free address range.
  const isRefusal = error.status === 404 || error.status >= 500;
  return isRefusal ? new AppError("conflict", error.message, cause) : error;
}

const NO_DRIVER = /unsupported driver|plugin .*not (be retrieved|found)|no volume plugin/i;

/** Bounds of a subnet's prefix: a shorter one would hide networks that the host is attached to. */
const PREFIXES = { ipv4: [8, 30], ipv6: [32, 126] } as const;

/** Ranges whose addresses hosts use for other purposes; Docker accepts them. */
const RESERVED_RANGES: ReadonlySet<string> = new Set([
  "broadcast",
  "linkLocal",
  "loopback",
  "multicast",
  "unspecified",
]);

/** @returns Whether the subnet is IPv6. @throws {AppError} `invalid`. */
function checkAddresses(subnet: string | undefined, gateway: string | undefined): boolean {
  if (subnet === undefined) {
    if (gateway === undefined) return false;
    throw new AppError("invalid", "body.gateway: requires a subnet");
  }
  const network = parseNetwork(subnet);
  if ("refused" in network) throw new AppError("invalid", `body.subnet: ${network.refused}`);
  if (RESERVED_RANGES.has(network.base.range())) {
    throw new AppError(
      "invalid",
      "body.subnet: must not be a loopback, link-local or multicast range",
    );
  }
  const kind = network.base.kind();
  const [least, most] = PREFIXES[kind];
  if (network.prefix < least || network.prefix > most) {
    throw new AppError("invalid", `body.subnet: must have a prefix from ${least} to ${most}`);
  }
  if (gateway !== undefined) {
    const address = parseAddress(gateway);
    if (!address || gateway.includes("%") || !includesAddress(network, address)) {
      throw new AppError("invalid", `body.gateway: must be an address in ${subnet}`);
    }
  }
  return kind === "ipv6";
}

function toNetwork(
  network: EngineNetwork,
  attached: ReadonlyMap<string, AttachedContainer[]>,
): Network {
  const { Id, Name } = network;
  const configs = network.IPAM?.Config ?? [];
  return {
    id: Id,
    name: shownName(Name),
    driver: network.Driver,
    scope: network.Scope,
    internal: network.Internal,
    attachable: network.Attachable ?? false,
    createdAt: engineTime(network.Created),
    subnets: configs.flatMap(({ Subnet }) => Subnet ?? []),
    gateways: configs.flatMap(({ Gateway }) => Gateway ?? []),
    labels: shownLabels(network.Labels ?? {}),
    containers: [...attached.get(Id) ?? [], ...attached.get(Name) ?? []].sort(byName),
    warning: warningOf(network),
  };
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

function byName(a: { name: string; id: string }, b: { name: string; id: string }): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
