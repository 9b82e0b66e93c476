/** /status-pages/:pageId/incidents: incidents on a status page and their updates. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  addPageIncidentUpdate,
  changePageIncident,
  createPageIncident,
  listPageIncidents,
  removePageIncident,
} from "../../../services/pro/status_pages/incidents.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, oneLine, paged, pagingQuery } from "../../contract/shapes.ts";
import {
  multiLine,
  PageIncident,
  PageIncidentSeverity,
  PageIncidentStatus,
  TITLE_MAX,
  UNKNOWN_PAGE,
} from "./shapes.ts";

const fields = {
  title: oneLine(TITLE_MAX),
  message: multiLine(),
  severity: PageIncidentSeverity,
  status: PageIncidentStatus,
};

const EXAMPLE = {
  title: "Slow API responses",
  message: "We are investigating.",
  severity: "major",
  status: "investigating",
};

const NewPageIncident = z.object({
  ...fields,
  message: fields.message.default(""),
  severity: fields.severity.default("minor"),
  status: fields.status.default("investigating"),
}).meta({ id: "NewStatusPageIncident", example: EXAMPLE });

const PageIncidentChange = z.object(fields).partial()
  .meta({
    id: "StatusPageIncidentChanges",
    example: { status: "resolved", message: "The API is operating normally again." },
  });

const NewUpdate = z.object({
  message: multiLine().min(1),
  status: PageIncidentStatus.optional().meta({ description: "Default: the current status" }),
}).meta({
  id: "NewStatusPageIncidentUpdate",
  example: { status: "identified", message: "A disk is full. We are extending it." },
});

const UNKNOWN = { 404: "The status page or the incident does not exist" };

const READ = { role: "viewer", permission: "status_pages:read" } as const;
const WRITE = { role: "admin", permission: "status_pages:write" } as const;

export const statusPageIncidentEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages/:pageId/incidents", {
    operationId: "listStatusPageIncidents",
    summary: "List incidents of a status page",
    description: "Newest first.",
    ...READ,
    query: z.object({ status: PageIncidentStatus.optional(), ...pagingQuery(50) }),
    returns: paged({ incidents: z.array(PageIncident) }).meta({ id: "StatusPageIncidentPage" }),
    failures: UNKNOWN_PAGE,
  }, ({ params, query }) => listPageIncidents(deps, params.pageId, query)),

  endpoint("POST /status-pages/:pageId/incidents", {
    operationId: "createStatusPageIncident",
    summary: "Create a status page incident",
    description: "Publishes the event `status_page.updated` and notifies the subscribers.",
    ...WRITE,
    body: NewPageIncident,
    returns: PageIncident,
    status: 201,
    failures: UNKNOWN_PAGE,
  }, ({ params, body }) => createPageIncident(deps, params.pageId, body)),

  endpoint("PUT /status-pages/:pageId/incidents/:incId", {
    operationId: "updateStatusPageIncident",
    summary: "Update a status page incident",
    description:
      "Omitted fields keep their values. `resolved` sets `resolved_at`; any other status " +
      "clears it. A changed status or message is added to the updates, publishes the event " +
      "`status_page.updated` and notifies the subscribers.",
    ...WRITE,
    body: PageIncidentChange,
    returns: PageIncident,
    failures: { ...UNKNOWN, 409: "The incident has too many updates" },
  }, ({ params, body }) => changePageIncident(deps, params.pageId, params.incId, body)),

  endpoint("POST /status-pages/:pageId/incidents/:incId/updates", {
    operationId: "addStatusPageIncidentUpdate",
    summary: "Add an incident update",
    description: "Adds a message and, optionally, changes the status. Publishes the event " +
      "`status_page.updated` and notifies the subscribers.",
    ...WRITE,
    body: NewUpdate,
    returns: PageIncident,
    status: 201,
    failures: { ...UNKNOWN, 409: "The incident has too many updates" },
  }, ({ params, body }) => addPageIncidentUpdate(deps, params.pageId, params.incId, body)),

  endpoint("DELETE /status-pages/:pageId/incidents/:incId", {
    operationId: "deleteStatusPageIncident",
    summary: "Delete a status page incident",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removePageIncident(deps, params.pageId, params.incId)),
];
