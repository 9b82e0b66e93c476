/** /api/maintenance/windows: maintenance that recurs. @module */

import * as z from "zod";
import {
  changeMaintenanceWindow,
  createMaintenanceWindow,
  listMaintenanceWindows,
  removeMaintenanceWindow,
} from "../../services/automation/maintenance/windows.ts";
import { CRON_LENGTH_MAX } from "../../services/input/cron.ts";
import { WINDOW_MINUTES } from "../../services/updates/window.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Target, Timestamp } from "../contract/shapes.ts";

const settings = {
  cron: z.string().min(1).max(CRON_LENGTH_MAX).meta({
    description: "When it opens: five fields, as for schedules. A local time skipped by a clock " +
      "change is skipped; one that occurs twice opens it once",
    example: "0 3 * * sat",
  }),
  durationMinutes: z.int().min(WINDOW_MINUTES.min).max(WINDOW_MINUTES.max),
  scope: z.strictObject({ target: Target }).meta({ id: "MaintenanceScope" }),
};

const TimeZone = z.string().min(1).max(100).meta({
  description: "IANA name. Default: the time zone of the host",
  example: "Europe/Berlin",
});

const Comment = z.string().max(500);

const NewWindow = z.object({
  ...settings,
  timeZone: TimeZone.optional(),
  comment: Comment.default(""),
}).meta({
  id: "NewMaintenanceWindow",
  example: {
    cron: "0 3 * * sat",
    timeZone: "Europe/Berlin",
    durationMinutes: 90,
    scope: { target: { kind: "containers", containers: ["batch*"] } },
    comment: "Weekly import",
  },
});

const WindowChanges = z.object({ ...settings, timeZone: TimeZone, comment: Comment }).partial()
  .meta({ id: "MaintenanceWindowChanges", example: { durationMinutes: 120 } });

const Window = z.object({
  ...settings,
  id: z.string(),
  timeZone: TimeZone,
  comment: Comment,
  createdAt: Timestamp,
  openUntil: Timestamp.nullable().meta({ description: "When it closes; null while closed" }),
  nextOpensAt: Timestamp,
}).meta({ id: "MaintenanceWindow" });

const UNKNOWN = { 404: "The window does not exist" };

const READ = { role: "admin", permission: "settings:read" } as const;
const WRITE = { role: "admin", permission: "settings:write" } as const;

export const maintenanceWindowEndpoints = (deps: Deps) => [
  endpoint("GET /api/maintenance/windows", {
    operationId: "listMaintenanceWindows",
    summary: "List maintenance windows",
    description: "Oldest first.",
    ...READ,
    returns: z.object({ windows: z.array(Window) }).meta({ id: "MaintenanceWindowList" }),
  }, () => ({ windows: listMaintenanceWindows(deps) })),

  endpoint("POST /api/maintenance/windows", {
    operationId: "createMaintenanceWindow",
    summary: "Create a maintenance window",
    description: "During a window of the host, maintenance mode is on. A window of containers " +
      "pauses only what is about these: alerts, remediation, automatic updates, webhooks and " +
      "messages. What is still wrong afterwards is reported once to people.",
    ...WRITE,
    body: NewWindow,
    returns: Window,
    status: 201,
    failures: { 409: "The limit of windows is reached" },
  }, ({ body }) => createMaintenanceWindow(deps, body)),

  endpoint("PUT /api/maintenance/windows/:id", {
    operationId: "updateMaintenanceWindow",
    summary: "Update a maintenance window",
    description: "Omitted fields keep their values. The change applies at once.",
    ...WRITE,
    body: WindowChanges,
    returns: Window,
    failures: UNKNOWN,
  }, ({ params, body }) => changeMaintenanceWindow(deps, params.id, body)),

  endpoint("DELETE /api/maintenance/windows/:id", {
    operationId: "deleteMaintenanceWindow",
    summary: "Delete a maintenance window",
    description: "One that is open ends.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeMaintenanceWindow(deps, params.id)),
];
