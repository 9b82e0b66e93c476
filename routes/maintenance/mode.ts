/** /api/maintenance: pause alerts, remediation and notifications. @module */

import * as z from "zod";
import { setMaintenance } from "../../services/automation/maintenance/mode.ts";
import { broadcastStates } from "../../services/live/frames.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Instant } from "../contract/shapes.ts";
import { Maintenance } from "../system/shapes.ts";

export const maintenanceEndpoints = (deps: Deps) => [
  endpoint("GET /api/maintenance", {
    operationId: "getMaintenance",
    summary: "Get maintenance mode",
    description: "On also during a maintenance window of the host.",
    role: "admin",
    permission: "settings:read",
    returns: Maintenance,
  }, () => deps.maintenance.state),

  endpoint("POST /api/maintenance", {
    operationId: "setMaintenance",
    summary: "Change maintenance mode",
    description:
      "While maintenance mode is on, alerts, remediation and notifications are paused; " +
      "recording continues. Afterwards, people are told once what began in the meantime and is " +
      "still wrong. Switching the mode off also ends an open window of the host.",
    role: "admin",
    permission: "settings:write",
    body: z.object({
      enabled: z.boolean(),
      until: Instant.nullable().optional(),
      reason: z.string().max(500).nullable().optional(),
    }).meta({
      id: "MaintenanceChange",
      example: { enabled: true, until: "2026-01-31T12:00:00Z", reason: "New disks" },
    }),
    returns: Maintenance,
  }, async ({ body }) => {
    const state = setMaintenance(deps, body);
    await broadcastStates(deps);
    return state;
  }),
];
