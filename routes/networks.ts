/** /api/networks: list, create, delete. @module */

import * as z from "zod";
import { createNetwork, listNetworks, removeNetwork } from "../services/containers/networks.ts";
import { visibleTo } from "../services/containers/visible.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import {
  ENGINE_FAILURES,
  EngineDriver,
  EngineName,
  EnginePairs,
  Timestamp,
  Warning,
} from "./contract/shapes.ts";

const Network = z.object({
  id: z.string(),
  name: z.string(),
  driver: z.string(),
  scope: z.string().meta({ description: "local, swarm or global" }),
  internal: z.boolean().meta({ description: "Whether it has no access to other hosts" }),
  attachable: z.boolean().meta({
    description: "Whether containers outside of a Swarm service can join a Swarm network",
  }),
  createdAt: Timestamp.nullable(),
  subnets: z.array(z.string()).meta({ example: ["172.18.0.0/16"] }),
  gateways: z.array(z.string()).meta({ example: ["172.18.0.1"] }),
  labels: z.record(z.string(), z.string()),
  containers: z.array(z.object({
    id: z.string(),
    name: z.string(),
    ipv4: z.string().nullable(),
    ipv6: z.string().nullable(),
    mac: z.string().nullable(),
  })).meta({ description: "Containers in any state; stopped ones have no addresses" }),
  warning: Warning,
}).meta({ id: "Network" });

/** Only the engine's characters for names are allowed. */
const NetworkParams = z.object({
  id: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, {
    error: "must be the id or name of a network",
  }).meta({ description: "Id, unambiguous prefix of an id, or name", example: "shop_default" }),
});

/** Longest address or subnet as text, in characters. */
const ADDRESS_MAX = 49;

const NewNetwork = z.object({
  name: EngineName,
  driver: EngineDriver.default("bridge"),
  internal: z.boolean().default(false).meta({
    description: "Without access to other hosts",
  }),
  attachable: z.boolean().default(false).meta({
    description: "Lets containers outside of a Swarm service join a Swarm network",
  }),
  subnet: z.string().max(ADDRESS_MAX).optional().meta({
    description: "IPv4 with a prefix from 8 to 30, or IPv6 from 32 to 126. Default: the engine's " +
      "choice",
    example: "10.80.0.0/24",
  }),
  gateway: z.string().max(ADDRESS_MAX).optional().meta({
    description: "An address in the subnet",
    example: "10.80.0.1",
  }),
  labels: EnginePairs.default({}),
}).meta({ id: "NewNetwork", example: { name: "backend", internal: true } });

export const networkEndpoints = (deps: Deps) => [
  endpoint("GET /api/networks", {
    operationId: "listNetworks",
    scope: "filtered",
    summary: "List networks",
    description: "Sorted by name, with the attached containers.",
    role: "viewer",
    permission: "networks:read",
    returns: z.object({ networks: z.array(Network) }).meta({ id: "NetworkList" }),
    failures: ENGINE_FAILURES,
    etag: true,
  }, async ({ caller }) => ({ networks: await listNetworks(visibleTo(deps, caller)) })),

  endpoint("POST /api/networks", {
    operationId: "createNetwork",
    summary: "Create a network",
    description: "An IPv6 subnet enables IPv6.",
    role: "admin",
    permission: "networks:write",
    body: NewNetwork,
    returns: Network,
    status: 201,
    failures: {
      409: "The name is in use, the subnet overlaps with another network, or the engine refuses",
      ...ENGINE_FAILURES,
    },
  }, ({ body }) => createNetwork(deps, body)),

  endpoint("DELETE /api/networks/:id", {
    operationId: "deleteNetwork",
    summary: "Delete a network",
    role: "admin",
    permission: "networks:write",
    params: NetworkParams,
    returns: z.object({
      ok: z.literal(true),
      id: z.string(),
      name: z.string().meta({ example: "shop_default" }),
    }).meta({ id: "NetworkDeletion" }),
    failures: {
      404: "The network does not exist",
      409: "A container uses it, even if it is stopped, or it is a predefined network",
      ...ENGINE_FAILURES,
    },
  }, async ({ params, note }) => {
    const removed = await removeNetwork(deps, params.id);
    note.targets = [removed.name, removed.id];
    return removed;
  }),
];
