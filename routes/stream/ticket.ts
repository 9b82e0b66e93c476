/** /api/stream/ticket: tickets for the event stream in browsers. @module */

import * as z from "zod";
import { issueTicket } from "../../services/live/tickets.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";

export const streamTicketEndpoints = (deps: Deps) => [
  endpoint("POST /api/stream/ticket", {
    unaudited: true,
    operationId: "createStreamTicket",
    scope: "open",
    summary: "Create a stream ticket",
    description: "For browsers, which cannot set headers on an event stream: connect to " +
      "`/api/stream?ticket=...`. A ticket is valid for one connection within 30 seconds.",
    role: "viewer",
    permission: "system:read",
    returns: z.object({
      ticket: z.string().meta({ example: "aALvzyRj9xb9L3EVNkaaJolTlLIPA0PkJ4firVEXDLQ" }),
    }).meta({ id: "StreamTicket" }),
  }, ({ caller }) => issueTicket(deps, caller)),
];
