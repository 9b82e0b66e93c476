/** /api/fleet/overview, /api/fleet/containers and others: what all hosts have, from the hub's copy. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { listRows } from "../../services/fleet/copies/lists.ts";
import { readFleetOverview } from "../../services/fleet/copies/overview.ts";
import { HostFigures, ROWS } from "../../services/fleet/copies/rows.ts";
import { HOST_STATES } from "../../services/fleet/hosts/state.ts";
import { endpoint } from "../contract/endpoint.ts";
import { paged, pagingQuery, Timestamp } from "../contract/shapes.ts";
import { HostName, Labels } from "./shapes.ts";

const Query = z.object({
  search: z.string().min(1).max(255).optional().meta({
    description: "Part of a name, an image, a message or the name of the host",
  }),
  host: z.string().min(1).max(255).optional().meta({ description: "Name or id of a host" }),
  label: z.string().min(1).max(128).optional().meta({
    description: "Label of the host: `key` or `key=value`",
    example: "site=kiel",
  }),
  ...pagingQuery(200),
});

const OfHost = {
  host: HostName.meta({ description: "Name of the host" }),
  asOf: Timestamp.meta({ description: "When the host had it so, by the clock of this server" }),
};

const DESCRIPTION = "From the copy that this server keeps: no host is asked, and rows of " +
  "a host that is away stay with their age.";

const Sums = z.object({
  containers: z.object({
    total: z.int(),
    running: z.int(),
    unhealthy: z.int(),
    restarting: z.int(),
  }).nullable(),
  stacks: z.object({ total: z.int(), degraded: z.int() }).nullable(),
  alerts: z.object({ total: z.int(), critical: z.int() }).nullable(),
  updates: z.object({ total: z.int(), available: z.int() }).nullable(),
});

const Age = Timestamp.nullable();

const HostOverview = Sums.extend({
  id: z.string(),
  name: HostName,
  labels: Labels,
  state: z.enum(HOST_STATES),
  since: Timestamp.nullable(),
  figures: HostFigures.nullable(),
  asOf: z.object({ host: Age, containers: Age, stacks: Age, alerts: Age, updates: Age }).meta({
    description: "Age of each part; null before its first",
  }),
  problem: z.string().nullable().meta({ description: "Why it cannot be followed now" }),
  attention: z.array(z.string()).meta({ example: ["away", "2 unhealthy"] }),
}).meta({ id: "FleetHostOverview" });

export const listEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/overview", {
    operationId: "getFleetOverview",
    scope: "hosts",
    summary: "Get the fleet overview",
    description: "Sums over all hosts, and for each host what needs attention. Parts that the " +
      `caller may not read, or that are not known yet, are null. ${DESCRIPTION}`,
    role: "viewer",
    permission: "fleet:read",
    returns: z.object({ sums: Sums, hosts: z.array(HostOverview) }).meta({ id: "FleetOverview" }),
  }, ({ caller }) => readFleetOverview(deps, caller)),

  endpoint("GET /api/fleet/containers", {
    operationId: "listFleetContainers",
    scope: "filtered",
    summary: "List containers of all hosts",
    description: DESCRIPTION,
    role: "viewer",
    permission: "containers:read",
    query: Query,
    returns: paged({
      containers: z.array(ROWS.containers.extend(OfHost).meta({ id: "FleetContainer" })),
    }).meta({ id: "FleetContainerList" }),
  }, ({ caller, query }) => {
    const { rows, ...page } = listRows(deps, caller, "containers", query);
    return { containers: rows, ...page };
  }),

  endpoint("GET /api/fleet/stacks", {
    operationId: "listFleetStacks",
    scope: "filtered",
    summary: "List stacks of all hosts",
    description: `${DESCRIPTION} A token that is limited to containers sees none.`,
    role: "viewer",
    permission: "stacks:read",
    query: Query,
    returns: paged({
      stacks: z.array(ROWS.stacks.extend(OfHost).meta({ id: "FleetStack" })),
    }).meta({ id: "FleetStackList" }),
  }, ({ caller, query }) => {
    const { rows, ...page } = listRows(deps, caller, "stacks", query);
    return { stacks: rows, ...page };
  }),

  endpoint("GET /api/fleet/alerts", {
    operationId: "listFleetAlerts",
    scope: "hosts",
    summary: "List alerts of all hosts",
    description: `Those that are firing. ${DESCRIPTION}`,
    role: "viewer",
    permission: "alerts:read",
    query: Query,
    returns: paged({
      alerts: z.array(ROWS.alerts.extend(OfHost).meta({ id: "FleetAlert" })),
    }).meta({ id: "FleetAlertList" }),
  }, ({ caller, query }) => {
    const { rows, ...page } = listRows(deps, caller, "alerts", query);
    return { alerts: rows, ...page };
  }),

  endpoint("GET /api/fleet/updates", {
    operationId: "listFleetUpdates",
    scope: "filtered",
    summary: "List updates of all hosts",
    description: `One entry for each image of a host. ${DESCRIPTION}`,
    role: "viewer",
    permission: "containers:read",
    query: Query,
    returns: paged({
      updates: z.array(ROWS.updates.extend(OfHost).meta({ id: "FleetUpdate" })),
    }).meta({ id: "FleetUpdateList" }),
  }, ({ caller, query }) => {
    const { rows, ...page } = listRows(deps, caller, "updates", query);
    return { updates: rows, ...page };
  }),
];
