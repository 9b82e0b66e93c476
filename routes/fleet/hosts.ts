/** /api/fleet/hosts: the hosts of the fleet of this server. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { ADDRESS_MAX, isHubAddress, TOKEN_MAX } from "../../services/fleet/enrolment/token.ts";
import { addByToken } from "../../services/fleet/hosts/add.ts";
import {
  acceptHost,
  changeHost,
  getHost,
  listHosts,
  removeHost,
} from "../../services/fleet/hosts/hosts.ts";
import { HostAllows } from "../../services/fleet/copies/rows.ts";
import { HOST_STATES } from "../../services/fleet/hosts/state.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";
import { HostName, Labels } from "./shapes.ts";

const Host = z.object({
  id: z.string(),
  name: HostName,
  labels: Labels,
  state: z.enum(HOST_STATES).meta({
    description: "`pending`: an admin has to accept it. `late`: no beat for 30 seconds. `away`: " +
      "the connection has closed, or no beat for 75 seconds. `never`: it has not connected yet",
  }),
  since: Timestamp.nullable().meta({
    description: "Time of the last message of a host that is away, or when it left",
  }),
  machine: z.string().meta({ example: "edge-7, Debian GNU/Linux 12" }),
  version: z.string().meta({ description: "Version of Longshore" }),
  engine: z.string().nullable().meta({
    description: "Version of its engine; null if not known or unreachable",
  }),
  allows: HostAllows,
  address: z.string().meta({ description: "Address of its last connection" }),
  fingerprint: z.string().meta({ description: "SHA-256 of its key, base64url" }),
  latencyMs: z.int().nullable(),
  skewMs: z.int().nullable().meta({ description: "Its clock minus that of this server" }),
  joinedAt: Timestamp,
  lastSeenAt: Timestamp.nullable().meta({ description: "Time of its last message" }),
}).meta({ id: "FleetHost" });

const Changes = z.object({ name: HostName, labels: Labels }).partial()
  .meta({ id: "FleetHostChanges", example: { labels: { site: "kiel" } } });

const NewHost = z.object({
  token: z.string().max(TOKEN_MAX).meta({
    description: "Printed by `longshore join --listen` on the host; begins with `lsadd_`",
  }),
  address: z.string().max(ADDRESS_MAX).refine(isHubAddress, {
    error: "must be an address such as https://edge-7.example.com",
  }).optional().meta({
    description: "Address of the host, as this server can reach it. Default: that in the token",
    example: "https://edge-7.example.com",
  }),
  name: HostName.optional().meta({ description: "Default: that of the host" }),
  labels: Labels.default({}),
}).meta({
  id: "NewFleetHost",
  example: { token: "lsadd_AbY07iLb", labels: { site: "kiel" } },
});

const READ = { role: "viewer", permission: "fleet:read" } as const;
const WRITE = { role: "admin", permission: "fleet:write" } as const;
const UNKNOWN = { 404: "The host does not exist" };

export const hostEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/hosts", {
    operationId: "listFleetHosts",
    summary: "List fleet hosts",
    description: "By name. This server itself is not one of them.",
    scope: "hosts",
    ...READ,
    returns: z.object({ hosts: z.array(Host) }).meta({ id: "FleetHostList" }),
  }, async ({ caller }) => ({ hosts: await listHosts(deps, caller) })),

  endpoint("POST /api/fleet/hosts", {
    operationId: "addFleetHost",
    summary: "Add a host that waits",
    description: "For a host that cannot reach this server: `longshore join --listen` there " +
      "prints a token, and this server dials the host from now on. Host and server prove to " +
      "each other that they know the token's secret, which is never sent. The same request may " +
      "be repeated if its answer was lost.",
    ...WRITE,
    body: NewHost,
    returns: Host,
    status: 201,
    failures: {
      400: "The token is damaged, or this server may not dial the address",
      403: "The host does not take the token, or another one has made it",
      409: "The host is in the fleet already, or its name is in use",
      502: "The host cannot be reached",
      503: "The host may have joined; repeat the request",
    },
  }, async ({ body, caller, note, request }) => {
    const host = await addByToken(deps, body, { viewer: caller, signal: request.signal });
    note.target = host.name;
    return host;
  }),

  endpoint("GET /api/fleet/hosts/:id", {
    operationId: "getFleetHost",
    summary: "Get a fleet host",
    scope: "hosts",
    ...READ,
    returns: Host,
    failures: UNKNOWN,
  }, ({ params, caller }) => getHost(deps, caller, params.id)),

  endpoint("PUT /api/fleet/hosts/:id", {
    operationId: "updateFleetHost",
    summary: "Update a fleet host",
    description: "Omitted fields keep their values; `labels` replaces all of them.",
    ...WRITE,
    body: Changes,
    returns: Host,
    failures: { ...UNKNOWN, 409: "Another host has the name" },
  }, ({ params, body }) => changeHost(deps, params.id, body)),

  endpoint("POST /api/fleet/hosts/:id/accept", {
    operationId: "acceptFleetHost",
    summary: "Accept a fleet host",
    description: "Compare its fingerprint with what `longshore join` has shown first. Of a host " +
      "whose key two machines have, it accepts the one that connects next.",
    ...WRITE,
    returns: Host,
    failures: { ...UNKNOWN, 409: "The host has left the fleet" },
  }, ({ params }) => acceptHost(deps, params.id)),

  endpoint("DELETE /api/fleet/hosts/:id", {
    operationId: "deleteFleetHost",
    summary: "Remove a fleet host",
    description: "Ends its link for good. Nothing on the host itself changes.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeHost(deps, params.id)),
];
