/**
 * /api/audit: who changed what.
 *
 * @module
 */

import * as z from "zod";
import { AUDIT_OUTCOMES, listAudit } from "../../services/ce/audit.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { paged, pagingQuery, Timestamp } from "../shapes.ts";

const AuditEntry = z.object({
  id: z.string(),
  at: Timestamp,
  actor: z.string().meta({ description: "Id of the user, key, or empty without a token" }),
  role: z.string(),
  action: z.string().meta({ example: "POST /api/containers/:id/stop" }),
  target: z.string().meta({ example: "web" }),
  outcome: z.enum(AUDIT_OUTCOMES),
  ip: z.string(),
});

export const auditEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/audit",
    summary: "List who changed what",
    description: "Every write of every edition, newest first, kept for 90 days.",
    role: "admin",
    permission: "settings:read",
    query: z.object(pagingQuery(100)),
    returns: paged({ entries: z.array(AuditEntry) }),
  }, ({ query }) => listAudit(deps, query)),
];
