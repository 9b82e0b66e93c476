/** /incidents: incidents with their status and timeline. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  addTimelineEntry,
  changeIncident,
  changeIncidentStatus,
  createIncident,
  getIncident,
  INCIDENT_SEVERITIES,
  INCIDENT_SOURCES,
  INCIDENT_STATUSES,
  listIncidents,
  NOTE_TYPES,
  removeIncident,
  TIMELINE_TYPES,
} from "../../services/pro/incidents/incidents.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, oneLine, paged, pagingQuery, Timestamp } from "../contract/shapes.ts";

const Severity = z.enum(INCIDENT_SEVERITIES).meta({ id: "IncidentSeverity" });
const Status = z.enum(INCIDENT_STATUSES).meta({ id: "IncidentStatus" });

const Message = z.string().trim().min(1).max(10_000);

const settings = {
  title: oneLine(200),
  severity: Severity,
  description: z.string().trim().max(10_000).nullable(),
  commander: z.string().trim().max(200).nullable().meta({
    description: "Name of the person who leads the response",
  }),
};

const NewIncident = z.object({
  ...settings,
  description: settings.description.default(null),
  commander: settings.commander.default(null),
}).meta({
  id: "NewIncident",
  example: {
    title: "Checkout returns errors",
    severity: "major",
    description: "Since this morning's release, every tenth order fails.",
    commander: "Ada",
  },
});

const IncidentChanges = z.object(settings).partial().meta({
  id: "IncidentChanges",
  example: { severity: "critical", commander: "Grace" },
});

const StatusChange = z.object({ status: Status, message: Message.optional() }).meta({
  id: "IncidentStatusChange",
  example: { status: "identified", message: "The disk of the database host is full." },
});

const NewEntry = z.object({ type: z.enum(NOTE_TYPES).default("note"), message: Message }).meta({
  id: "NewTimelineEntry",
  example: { type: "action", message: "Rolled back to yesterday's release." },
});

const Incident = z.object({
  ...settings,
  id: z.string(),
  title: z.string(),
  status: Status,
  source: z.enum(INCIDENT_SOURCES),
  source_id: z.string().nullable().meta({
    description: "Id of the monitor or alert rule that opened it",
  }),
  created_by: z.string().meta({
    description: "The user's email, `key` in key mode, or `system` if it was opened automatically",
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  resolved_at: Timestamp.nullable(),
}).meta({ id: "Incident" });

const Entry = z.object({
  id: z.string(),
  type: z.enum(TIMELINE_TYPES),
  message: z.string(),
  author: z.string(),
  created_at: Timestamp,
}).meta({ id: "TimelineEntry" });

const UNKNOWN = { 404: "The incident does not exist" };

export const incidentEndpoints = (deps: Deps) => [
  endpoint("GET /incidents", {
    operationId: "listIncidents",
    summary: "List incidents",
    description: "Newest first.",
    role: "viewer",
    permission: "incidents:read",
    query: z.object({ status: Status.optional(), ...pagingQuery(50) }),
    returns: paged({ incidents: z.array(Incident) }).meta({ id: "IncidentPage" }),
  }, ({ query }) => listIncidents(deps, query)),

  endpoint("POST /incidents", {
    operationId: "createIncident",
    summary: "Create an incident",
    description:
      "Incidents are also opened by a monitor with `auto_incident` that goes down and by an " +
      "alert rule with `autoIncident` that fires; these resolve automatically.",
    role: "operator",
    permission: "incidents:write",
    body: NewIncident,
    returns: Incident,
    status: 201,
  }, ({ body, caller }) => createIncident(deps, body, caller)),

  endpoint("GET /incidents/:id", {
    operationId: "getIncident",
    summary: "Get an incident",
    description: "Includes its timeline, newest first.",
    role: "viewer",
    permission: "incidents:read",
    returns: Incident.extend({ timeline: z.array(Entry) }).meta({ id: "IncidentDetail" }),
    failures: UNKNOWN,
  }, ({ params }) => getIncident(deps, params.id)),

  endpoint("PUT /incidents/:id", {
    operationId: "updateIncident",
    summary: "Update an incident",
    description: "Omitted fields keep their values. To change the status, use `PUT " +
      "/incidents/{id}/status`.",
    role: "admin",
    permission: "incidents:write",
    body: IncidentChanges,
    returns: Incident,
    failures: UNKNOWN,
  }, ({ params, body }) => changeIncident(deps, params.id, body)),

  endpoint("PUT /incidents/:id/status", {
    operationId: "setIncidentStatus",
    summary: "Change an incident's status",
    description: "Each change is added to the timeline, with the message. Reopening clears " +
      "`resolved_at`. An incident resolved by a user is not changed by its monitor or " +
      "alert.",
    role: "operator",
    permission: "incidents:write",
    body: StatusChange,
    returns: Incident,
    failures: UNKNOWN,
  }, ({ params, body, caller }) => changeIncidentStatus(deps, params.id, body, caller)),

  endpoint("POST /incidents/:id/timeline", {
    operationId: "addIncidentTimelineEntry",
    summary: "Add an incident timeline entry",
    description: "An entry of type `update` also publishes the event `incident.updated`.",
    role: "operator",
    permission: "incidents:write",
    body: NewEntry,
    returns: Entry,
    status: 201,
    failures: { ...UNKNOWN, 409: "Limit of 1,000 timeline entries reached" },
  }, ({ params, body, caller }) => addTimelineEntry(deps, params.id, body, caller)),

  endpoint("DELETE /incidents/:id", {
    operationId: "deleteIncident",
    summary: "Delete an incident",
    description: "Also deletes its timeline.",
    role: "admin",
    permission: "incidents:write",
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeIncident(deps, params.id)),
];
