/**
 * Network operations of the engine's API.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import type { EndpointSettings } from "./container_config.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText } from "./query.ts";

export interface NetworkContainer {
  Name?: string;
  EndpointID?: string;
  MacAddress?: string;
  /** With the prefix length, e.g. `172.18.0.2/16`. */
  IPv4Address?: string;
  IPv6Address?: string;
}

/** One entry of `GET /networks`, and the response of `GET /networks/{id}`. */
export interface Network {
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

interface Signal {
  signal?: AbortSignal | undefined;
}

export function networkList(
  engine: Engine,
  { filters, signal }: { filters?: Filters | undefined } & Signal = {},
): Promise<Network[]> {
  return engine.json("GET", "/networks", { query: { filters: filtersText(filters) }, signal });
}

/**
 * @param id Id, unambiguous prefix or name.
 * @throws {EngineError} 404 if the network does not exist.
 */
export function networkInspect(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<Network> {
  return engine.json("GET", `/networks/${segment("network", id)}`, { signal });
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
  const response = await engine.request("POST", `/networks/${segment("network", id)}/connect`, {
    body: { Container: container, EndpointConfig: endpoint },
    signal,
  });
  await response.bytes();
}

/** @throws {EngineError} 404 if the network does not exist, or the container is not attached. */
export async function networkDisconnect(
  engine: Engine,
  id: string,
  { container, force, signal }: { container: string; force?: boolean | undefined } & Signal,
): Promise<void> {
  const response = await engine.request("POST", `/networks/${segment("network", id)}/disconnect`, {
    body: { Container: container, Force: force ?? false },
    signal,
  });
  await response.bytes();
}

/** @throws {EngineError} 404 if the network does not exist; 403 or 409 when it is in use. */
export async function networkRemove(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<void> {
  const response = await engine.request("DELETE", `/networks/${segment("network", id)}`, {
    signal,
  });
  await response.bytes();
}
