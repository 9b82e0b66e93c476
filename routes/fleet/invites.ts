/** /api/fleet/invites: invites with which hosts join the fleet. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  createInvite,
  listInvites,
  MINUTES,
  removeInvite,
  USES_MAX,
} from "../../services/fleet/enrolment/invites.ts";
import { ADDRESS_MAX } from "../../services/fleet/enrolment/token.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";
import { HostName, Labels } from "./shapes.ts";

const Address = z.string().max(ADDRESS_MAX).meta({
  description: "Address of this server, as hosts can reach it. Default: SERVICE_BASE_URL",
  example: "https://hub.example.com",
});

const Pattern = z.string().min(1).max(63).meta({
  description: "Names of the hosts must match; `*` stands for any text",
  example: "edge-*",
});

const NewInvite = z.object({
  name: HostName.optional(),
  pattern: Pattern.optional(),
  labels: Labels.default({}),
  count: z.int().min(1).max(USES_MAX).default(1).meta({ description: "Number of hosts" }),
  expiresMinutes: z.int().min(1).max(MINUTES.max).default(MINUTES.default),
  acceptsAtOnce: z.boolean().default(false).meta({
    description: "Whether hosts need no admin who accepts them",
  }),
  address: Address.optional(),
}).meta({
  id: "NewFleetInvite",
  example: { name: "edge-7", labels: { site: "kiel" }, address: "https://hub.example.com" },
});

const Invite = z.object({
  id: z.string(),
  name: z.string().nullable(),
  pattern: z.string().nullable(),
  labels: Labels,
  address: Address,
  usesMax: z.int(),
  uses: z.int(),
  acceptsAtOnce: z.boolean(),
  createdBy: z.string().meta({ description: "Id of the user" }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
}).meta({ id: "FleetInvite" });

const CreatedInvite = Invite.extend({
  token: z.string().meta({ description: "Shown only here" }),
  command: z.string().meta({ description: "The line for the shell of the host" }),
  installCommand: z.string().meta({
    description: "The line for a host without Longshore, which installs this server's version " +
      "first. `RELEASE` in it stands for the address of a release unless RELEASE_URL is set",
  }),
}).meta({ id: "CreatedFleetInvite" });

const READ = { role: "viewer", permission: "fleet:read" } as const;
const WRITE = { role: "admin", permission: "fleet:write" } as const;

export const inviteEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/invites", {
    operationId: "listFleetInvites",
    summary: "List fleet invites",
    description: "The newest first, without their tokens. Expired ones are kept for a day.",
    ...READ,
    returns: z.object({ invites: z.array(Invite) }).meta({ id: "FleetInviteList" }),
  }, () => ({ invites: listInvites(deps) })),

  endpoint("POST /api/fleet/invites", {
    operationId: "createFleetInvite",
    summary: "Invite a host",
    description: "Returns one line for the shell of the new host. Its secret is never sent over " +
      "the network, and the host checks that it talks to this server. Unless `acceptsAtOnce`, an " +
      "admin has to accept the host before anything is sent to it.",
    ...WRITE,
    body: NewInvite,
    returns: CreatedInvite,
    status: 201,
    failures: { 409: "The name is in use, or the limit of invites is reached" },
  }, ({ body, caller, note }) => {
    note.target = body.name ?? body.pattern ?? "";
    return createInvite(deps, body, caller);
  }),

  endpoint("DELETE /api/fleet/invites/:id", {
    operationId: "deleteFleetInvite",
    summary: "Delete a fleet invite",
    description: "Hosts that have joined with it stay.",
    ...WRITE,
    returns: Done,
    failures: { 404: "The invite does not exist" },
  }, ({ params }) => removeInvite(deps, params.id)),
];
