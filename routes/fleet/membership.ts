/** /api/fleet/membership: the hub of this host. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { leaveFleet } from "../../services/fleet/enrolment/join.ts";
import { viewMembershipState } from "../../services/fleet/enrolment/membership.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";
import { HostName, Labels } from "./shapes.ts";

const Fingerprint = z.string().meta({ description: "SHA-256 of the key, base64url" });

const Membership = z.object({
  hub: z.string().meta({ description: "Name of the hub" }),
  hubFingerprint: Fingerprint,
  address: z.string().nullable().meta({
    description: "Address of the hub; of its last connection if the hub dials",
  }),
  dials: z.enum(["host", "hub"]).meta({ description: "Side that opens the connection" }),
  name: HostName.meta({ description: "Name of this host at the hub" }),
  labels: Labels.meta({ description: "Labels of this host at the hub, once it is accepted" }),
  fingerprint: Fingerprint,
  isPending: z.boolean().meta({ description: "An admin of the hub has to accept this host" }),
  state: z.enum(["connected", "late", "away", "never"]).meta({
    description: "Of the link. `late`: the hub has sent nothing for 30 seconds. `never`: it was " +
      "not connected yet",
  }),
  since: Timestamp.nullable().meta({ description: "Since when the hub is connected or away" }),
  reason: z.string().nullable().meta({
    description: "Why the last connection has ended or could not be opened",
  }),
  unknownSince: Timestamp.nullable().meta({
    description: "Since when the hub refuses this host, because it does not know it: an admin " +
      "there has removed it, or the hub was restored from a backup of before it joined. This " +
      "host has to leave and to join again",
  }),
  nextTryAt: Timestamp.nullable().meta({ description: "When this host dials the hub again" }),
  allows: z.enum(["read", "operate", "admin"]).meta({ description: "`FLEET_ALLOW`" }),
  runsPrograms: z.boolean().meta({
    description: "Admins of the hub may run commands and open terminals: `FLEET_TERMINAL=on`, " +
      "with `FLEET_ALLOW=admin`",
  }),
  joinedAt: Timestamp,
}).meta({ id: "FleetMembership" });

const EndedMembership = z.object({
  hub: z.string().meta({ description: "Name of the hub" }),
  name: HostName.meta({ description: "Name of this host at the hub" }),
  reason: z.string().meta({ description: "Sentence of the hub" }),
  endedAt: Timestamp,
}).meta({ id: "EndedFleetMembership" });

export const membershipEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/membership", {
    operationId: "getFleetMembership",
    summary: "Get the hub of this host",
    description: "The fleet that this server is a member of, and the state of its link to the hub.",
    role: "viewer",
    permission: "fleet:read",
    returns: z.object({
      membership: Membership.nullable().meta({ description: "`null`: it is in no fleet" }),
      waitsUntil: Timestamp.nullable().meta({
        description: "Until when a hub may add this host with the token of " +
          "`longshore join --listen`",
      }),
      ended: EndedMembership.nullable().meta({
        description: "The last membership, if the hub has ended it, until this host joins again " +
          "or the membership is deleted",
      }),
    }).meta({ id: "FleetMembershipState" }),
  }, () => viewMembershipState(deps)),

  endpoint("DELETE /api/fleet/membership", {
    operationId: "leaveFleet",
    summary: "Leave the fleet",
    description: "As `longshore fleet leave`: ends the link, and the hub can do nothing here any " +
      "more. Also ends the waiting for a hub, and forgets a membership that the hub has ended. To " +
      "come back, this host has to join again.",
    role: "admin",
    permission: "fleet:write",
    returns: Done,
    failures: { 409: "This server is in no fleet" },
  }, ({ note }) => {
    note.target = leaveFleet(deps)?.hubName ?? "";
    deps.fleet.refresh();
  }),
];
