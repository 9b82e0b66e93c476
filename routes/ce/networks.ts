/**
 * /api/networks: list.
 *
 * @module
 */

import * as z from "zod";
import { listNetworks } from "../../services/ce/containers/networks.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { ENGINE_FAILURES, Timestamp } from "../shapes.ts";

const Network = z.object({
  id: z.string(),
  name: z.string(),
  driver: z.string(),
  scope: z.string().meta({ description: "local, swarm or global" }),
  internal: z.boolean().meta({ description: "Whether it has no access to other hosts" }),
  createdAt: Timestamp.nullable(),
  subnets: z.array(z.string()).meta({ example: ["172.18.0.0/16"] }),
  containers: z.array(z.object({
    id: z.string(),
    name: z.string(),
    ipv4: z.string().nullable(),
    ipv6: z.string().nullable(),
    mac: z.string().nullable(),
  })).meta({ description: "Containers in any state; stopped ones have no addresses" }),
}).meta({ id: "Network" });

export const networkEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/networks",
    operationId: "listNetworks",
    summary: "List networks",
    description: "Sorted by name, with the attached containers.",
    role: "viewer",
    permission: "networks:read",
    returns: z.object({ networks: z.array(Network) }).meta({ id: "NetworkList" }),
    failures: ENGINE_FAILURES,
    etag: true,
  }, async () => ({ networks: await listNetworks(deps) })),
];
