/** /status-pages/:pageId/maintenances: planned maintenance on a status page. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  changeMaintenance,
  createMaintenance,
  listMaintenances,
  removeMaintenance,
} from "../../../services/pro/status_pages/maintenances.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, Instant, oneLine, paged, pagingQuery } from "../../contract/shapes.ts";
import { Maintenance, multiLine, TITLE_MAX, UNKNOWN_PAGE } from "./shapes.ts";

const fields = {
  title: oneLine(TITLE_MAX),
  message: multiLine(),
  starts_at: Instant.meta({ example: "2099-02-07T22:00:00Z" }),
  ends_at: Instant.meta({ example: "2099-02-07T23:30:00Z" }),
  component_ids: z.array(z.string().min(1).max(255)).max(200).meta({
    description: "Components that are shown as `under_maintenance` during the maintenance",
  }),
};

const EXAMPLE = {
  title: "Database upgrade",
  message: "The shop is read-only for about ten minutes.",
  starts_at: "2099-02-07T22:00:00Z",
  ends_at: "2099-02-07T23:30:00Z",
  component_ids: [],
};

const NewMaintenance = z.object({
  ...fields,
  message: fields.message.default(""),
  component_ids: fields.component_ids.default([]),
}).meta({ id: "NewStatusPageMaintenance", example: EXAMPLE });

const MaintenanceChange = z.object(fields).partial()
  .meta({ id: "StatusPageMaintenanceChanges", example: { ends_at: EXAMPLE.ends_at } });

const UNKNOWN = { 404: "The status page or the maintenance does not exist" };

const READ = { role: "viewer", permission: "status_pages:read" } as const;
const WRITE = { role: "admin", permission: "status_pages:write" } as const;

export const statusPageMaintenanceEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages/:pageId/maintenances", {
    operationId: "listStatusPageMaintenances",
    summary: "List planned maintenance",
    description: "Sorted by start time, latest first.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ maintenances: z.array(Maintenance) })
      .meta({ id: "StatusPageMaintenanceList" }),
    failures: UNKNOWN_PAGE,
  }, ({ params, query }) => listMaintenances(deps, params.pageId, query)),

  endpoint("POST /status-pages/:pageId/maintenances", {
    operationId: "createStatusPageMaintenance",
    summary: "Schedule maintenance",
    description: "It starts and completes automatically. Each step publishes the event " +
      "`status_page.updated` and notifies the subscribers. Afterwards, the components follow " +
      "their monitors again.",
    ...WRITE,
    body: NewMaintenance,
    returns: Maintenance,
    status: 201,
    failures: { ...UNKNOWN_PAGE, 409: "The page has too much planned maintenance" },
  }, ({ params, body }) => createMaintenance(deps, params.pageId, body)),

  endpoint("PUT /status-pages/:pageId/maintenances/:maintenanceId", {
    operationId: "updateStatusPageMaintenance",
    summary: "Update planned maintenance",
    description:
      "Omitted fields keep their values, and the status follows the times: an `ends_at` " +
      "that has passed completes the maintenance. The subscribers are notified.",
    ...WRITE,
    body: MaintenanceChange,
    returns: Maintenance,
    failures: UNKNOWN,
  }, ({ params, body }) => changeMaintenance(deps, params.pageId, params.maintenanceId, body)),

  endpoint("DELETE /status-pages/:pageId/maintenances/:maintenanceId", {
    operationId: "deleteStatusPageMaintenance",
    summary: "Delete planned maintenance",
    description: "Maintenance that is not completed is announced as `cancelled`.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeMaintenance(deps, params.pageId, params.maintenanceId)),
];
