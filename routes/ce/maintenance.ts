/**
 * /api/maintenance: alerts, remediation and notices pause.
 *
 * @module
 */

import * as z from "zod";
import { setMaintenance } from "../../services/ce/maintenance.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { Instant, Timestamp } from "../shapes.ts";

const Maintenance = z.object({
  enabled: z.boolean(),
  until: Timestamp.nullable().meta({ description: "When it ends by itself" }),
  reason: z.string().nullable(),
});

export const maintenanceEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/maintenance",
    summary: "Show whether maintenance mode is on",
    role: "admin",
    permission: "settings:read",
    returns: Maintenance,
  }, () => deps.maintenance.state),

  endpoint({
    method: "post",
    path: "/api/maintenance",
    summary: "Turn maintenance mode on or off",
    description: "While it is on, alerts, remediation and notices pause; recording goes on.",
    role: "admin",
    permission: "settings:write",
    body: z.object({
      enabled: z.boolean(),
      until: Instant.nullable().optional(),
      reason: z.string().max(500).nullable().optional(),
    }).meta({
      example: { enabled: true, until: "2026-01-31T12:00:00Z", reason: "New disks" },
    }),
    returns: Maintenance,
  }, ({ body }) => setMaintenance(deps, body)),
];
