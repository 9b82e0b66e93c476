/** Network operations of the engine's API. @module */

import type { Engine } from "./client.ts";
import type { EndpointSettings } from "./container_config.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, type Signal, withMargin } from "./query.ts";
import { LIST_LIMITS, OBJECT_LIMITS, type Shortened } from "./shortened_json.ts";

export interface NetworkContainer {
  Name?: string;
  EndpointID?: string;
  MacAddress?: string;
  /** With the prefix length, e.g. `172.18.0.2/16`. */
  IPv4Address?: string;
  IPv6Address?: string;
}

/** One entry of `GET /networks`, and the response of `GET /networks/{id}`. */
export interface Network extends Shortened {
  Id: string;
  Name: string;
  /** RFC 3339 with nanoseconds. */
  Created: string;
  /** `local`, `swarm` or `global`. */
  Scope: string;
  Driver: string;
  EnableIPv4?: boolean;
  EnableIPv6?: boolean;
  Internal: boolean;
  Attachable?: boolean;
  Ingress?: boolean;
  /** A template for other networks. */
  ConfigOnly?: boolean;
  IPAM?: {
    Driver?: string;
    Config?: { Subnet?: string; Gateway?: string; IPRange?: string }[] | null;
    Options?: Record<string, string> | null;
  } | null;
  /** Running containers by id. Filled by `networkInspect()`, empty in lists. */
  Containers?: Record<string, NetworkContainer> | null;
  Options?: Record<string, string> | null;
  Labels?: Record<string, string> | null;
  [field: string]: unknown;
}

/** Networks that the engine creates itself. */
export const PREDEFINED_NETWORKS: ReadonlySet<string> = new Set([
  "bridge",
  "host",
  "none",
  "ingress",
  "docker_gwbridge",
  "podman",
]);

export function networkList(
  engine: Engine,
  { filters, signal }: { filters?: Filters | undefined } & Signal = {},
): Promise<Network[]> {
  return engine.json("GET", "/networks", {
    query: { filters: filtersText(filters) },
    signal,
    limits: LIST_LIMITS,
  });
}

/**
 * @param id Id, name or unambiguous prefix of an id, in this order: a name must not be looked up here,
 * because it can be the beginning of another network's id.
 * @throws {EngineError} 404 if the network does not exist.
 */
export function networkInspect(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<Network> {
  return engine.json("GET", `/networks/${segment("network", id)}`, {
    signal,
    limits: OBJECT_LIMITS,
  });
}

/** Finds a network by its exact name. */
export async function findNetwork(
  engine: Engine,
  name: string,
): Promise<Network | undefined> {
  return (await networkList(engine)).find(({ Name }) => Name === name);
}

/**
 * Reference to an existing network: its id. Podman is given the name, because it does not notice the
 * containers of a network that is removed by its id.
 */
export const networkRef = ({ kind }: Engine, { Id, Name }: Pick<Network, "Id" | "Name">): string =>
  kind === "podman" ? Name : Id;

/** Request body of `POST /networks/create`. */
export interface NetworkCreateBody {
  Name: string;
  Driver?: string;
  Internal?: boolean;
  Attachable?: boolean;
  EnableIPv4?: boolean;
  EnableIPv6?: boolean;
  IPAM?: {
    Driver?: string;
    Options?: Record<string, string>;
    Config: {
      Subnet?: string;
      Gateway?: string;
      IPRange?: string;
      AuxiliaryAddresses?: Record<string, string>;
    }[];
  };
  Options?: Record<string, string>;
  Labels?: Record<string, string>;
}

/**
 * Creates a network.
 *
 * @returns Its id.
 * @throws {EngineError} 409 if the name is taken; 403 for a predefined name and for a subnet that
 * overlaps with another; 404 if the driver does not exist; 400 or 500 for other values that the
 * engine refuses.
 */
export async function networkCreate(
  engine: Engine,
  { body, signal }: { body: NetworkCreateBody } & Signal,
): Promise<string> {
  const { Id } = await engine.json<{ Id: string }>("POST", "/networks/create", {
    // Since API 1.44 the engine always checks this.
    body: { ...body, CheckDuplicate: true },
    signal,
    long: true,
    headTimeoutMs: withMargin(60),
  });
  return Id;
}

/**
 * Attaches a container to a network.
 *
 * @throws {EngineError} 404 when the network or container does not exist; 403 when the network
 * does not allow it (409 or 500 on other engines).
 */
export async function networkConnect(
  engine: Engine,
  id: string,
  { container, endpoint, signal }: {
    container: string;
    endpoint?: EndpointSettings | undefined;
  } & Signal,
): Promise<void> {
  await engine.send("POST", `/networks/${segment("network", id)}/connect`, {
    body: { Container: container, EndpointConfig: endpoint },
    signal,
    long: true,
    headTimeoutMs: withMargin(60),
  });
}

/** @throws {EngineError} 404 if the network does not exist, or the container is not attached. */
export async function networkDisconnect(
  engine: Engine,
  id: string,
  { container, force, signal }: { container: string; force?: boolean | undefined } & Signal,
): Promise<void> {
  await engine.send("POST", `/networks/${segment("network", id)}/disconnect`, {
    body: { Container: container, Force: force ?? false },
    signal,
    long: true,
    headTimeoutMs: withMargin(60),
  });
}

/**
 * Removes a network.
 *
 * @throws {EngineError} 404 if the network does not exist; 403 or 409 when it is in use.
 */
export async function networkRemove(
  engine: Engine,
  network: Pick<Network, "Id" | "Name">,
): Promise<void> {
  await engine.send("DELETE", `/networks/${segment("network", networkRef(engine, network))}`);
}
