/** /api/audit: the audit log. @module */

import * as z from "zod";
import { AUDIT_OUTCOMES, listAudit } from "../services/access/audit/audit.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { paged, pagingQuery, Timestamp } from "./contract/shapes.ts";
import { From, inOrder, To } from "./contract/time_range.ts";

const text = z.string().min(1).max(300);

const AuditEntry = z.object({
  id: z.string(),
  at: Timestamp,
  actor: z.string().meta({
    description: "Id of the user, `key`, `console` (a command on the host), `schedule`, " +
      "`remediation`, or empty without a token",
  }),
  actorEmail: z.string().nullable().meta({ description: "The user's email at that time" }),
  token: z.object({ id: z.string(), name: z.string().meta({ example: "CI" }) }).nullable().meta({
    description: "The API token that the actor used, with its name at that time",
  }),
  hub: z.object({
    id: z.string(),
    name: z.string().meta({ example: "hub-1" }),
    user: z.string().meta({ example: "ada@example.org" }),
  }).nullable().meta({
    description: "The hub that passed the request on, and the name of its user",
  }),
  role: z.string().meta({ description: "`system` for the service itself" }),
  action: z.string().meta({ example: "POST /api/containers/:id/stop" }),
  target: z.string().meta({ example: "web" }),
  targets: z.array(z.string()).meta({
    description: "Ids and names of all affected objects, at most 100",
    example: ["web"],
  }),
  command: z.string().nullable().meta({
    description: "The command of an exec, the action of a bulk request, the options of a prune",
  }),
  outcome: z.enum(AUDIT_OUTCOMES),
  ip: z.string(),
}).meta({ id: "AuditEntry" });

const AuditQuery = z.object({
  actor: text.optional().meta({ description: "Id or email of the actor" }),
  action: text.optional().meta({ description: "Part of the action", example: "exec" }),
  target: text.optional().meta({ description: "One of the targets", example: "web" }),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  from: From,
  to: To,
  ...pagingQuery(100),
}).refine(inOrder.check, inOrder.fault);

export const auditEndpoints = (deps: Deps) => [
  endpoint("GET /api/audit", {
    operationId: "listAuditEntries",
    summary: "List audit entries",
    description:
      "All writes of all editions, and automatic actions of the service. Newest first, " +
      "kept for 90 days. Filters are combined.",
    role: "admin",
    permission: "settings:read",
    query: AuditQuery,
    returns: paged({ entries: z.array(AuditEntry) }).meta({ id: "AuditPage" }),
  }, ({ query }) => listAudit(deps, query)),
];
