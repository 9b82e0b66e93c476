/** /api/boxes: requests that the hub of this host has left for it. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { BOX_STATES } from "../../services/fleet/away/answer.ts";
import { BOX_TEXT_MAX } from "../../services/fleet/away/box.ts";
import { getBox, listBoxes, receiveBox } from "../../services/fleet/away/received.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Timestamp } from "../contract/shapes.ts";

const Box = z.object({
  id: z.string(),
  user: z.string().meta({ description: "Name of the user at the hub" }),
  request: z.string().meta({ example: "POST /api/stacks/shop/deploy" }),
  state: z.enum(BOX_STATES).meta({ description: "`refused`: nothing was done" }),
  jobId: z.string().nullable(),
  error: z.string().nullable(),
  receivedAt: Timestamp,
  expiresAt: Timestamp,
}).meta({ id: "FleetBox" });

const READ = { role: "viewer", permission: "fleet:read" } as const;

export const boxEndpoints = (deps: Deps) => [
  endpoint("GET /api/boxes", {
    operationId: "listFleetBoxes",
    summary: "List received boxes",
    description: "Requests that the hub has left while this host was away, the oldest first.",
    ...READ,
    returns: z.object({ boxes: z.array(Box) }).meta({ id: "FleetBoxList" }),
  }, () => ({ boxes: listBoxes(deps) })),

  endpoint("GET /api/boxes/:id", {
    operationId: "getFleetBox",
    summary: "Get a received box",
    ...READ,
    returns: Box,
    failures: { 404: "The box does not exist" },
  }, ({ params }) => getBox(deps, params.id)),

  endpoint("POST /api/boxes", {
    operationId: "receiveFleetBox",
    summary: "Receive a box",
    description:
      "A box is signed by the hub and has the rights of its user there. Its request runs " +
      "once, after those that were received before, with what `FLEET_ALLOW` allows then, and only " +
      "if what it is about has not changed. A box that was received before is not run again.",
    role: "operator",
    permission: "containers:update",
    body: z.object({
      box: z.string().max(BOX_TEXT_MAX).meta({
        description: "A line of `longshore fleet export`",
        example: "lsbox_AbY07iLb...",
      }),
    }).meta({ id: "NewFleetBox", example: { box: "lsbox_AbY07iLb..." } }),
    returns: Box,
    status: 202,
    failures: { 409: "This host is not in a fleet" },
  }, ({ body }) => receiveBox(deps, body.box)),
];
