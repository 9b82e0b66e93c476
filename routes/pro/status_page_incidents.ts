/**
 * /status-pages/:pageId/incidents: what is wrong, told to the world in words.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  changePageIncident,
  createPageIncident,
  listPageIncidents,
  removePageIncident,
} from "../../services/pro/status_page_incidents.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, oneLine, paged, pagingQuery } from "../shapes.ts";
import {
  PageIncident,
  PageIncidentSeverity,
  PageIncidentStatus,
  PageParams,
  TITLE_MAX,
  UNKNOWN_PAGE,
  words,
} from "./status_page_shapes.ts";

const fields = {
  title: oneLine(TITLE_MAX),
  message: words(),
  severity: PageIncidentSeverity,
  status: PageIncidentStatus,
};

const EXAMPLE = {
  title: "API answers slowly",
  message: "We are looking into it.",
  severity: "major",
  status: "investigating",
};

const NewPageIncident = z.object({
  ...fields,
  message: fields.message.default(""),
  severity: fields.severity.default("minor"),
  status: fields.status.default("investigating"),
}).meta({ example: EXAMPLE });

const PageIncidentChange = z.object(fields).partial()
  .meta({ example: { status: "resolved", message: "All is well again." } });

const IncidentParams = PageParams.extend({ incId: z.string().min(1).max(255) });

const UNKNOWN = { 404: "There is no such status page, or it has no such incident" };

export const statusPageIncidentEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/status-pages/:pageId/incidents",
    summary: "List the incidents of a status page",
    description: "Newest first.",
    role: "viewer",
    permission: "status_pages:read",
    params: PageParams,
    query: z.object({ status: PageIncidentStatus.optional(), ...pagingQuery(50) }),
    returns: paged({ incidents: z.array(PageIncident) }),
    failures: UNKNOWN_PAGE,
  }, ({ params, query }) => listPageIncidents(deps, params.pageId, query)),

  endpoint({
    method: "post",
    path: "/status-pages/:pageId/incidents",
    summary: "Tell of an incident on a status page",
    description: "This is the event `status_page.updated`, of which the page's subscribers are " +
      "told.",
    role: "admin",
    permission: "status_pages:write",
    params: PageParams,
    body: NewPageIncident,
    returns: PageIncident,
    status: 201,
    failures: UNKNOWN_PAGE,
  }, ({ params, body }) => createPageIncident(deps, params.pageId, body)),

  endpoint({
    method: "put",
    path: "/status-pages/:pageId/incidents/:incId",
    summary: "Change an incident of a status page",
    description: "What is left out stays as it is. `resolved` sets `resolved_at`, any other " +
      "status clears it. Another status or message is the event `status_page.updated`.",
    role: "admin",
    permission: "status_pages:write",
    params: IncidentParams,
    body: PageIncidentChange,
    returns: PageIncident,
    failures: UNKNOWN,
  }, ({ params, body }) => changePageIncident(deps, params.pageId, params.incId, body)),

  endpoint({
    method: "delete",
    path: "/status-pages/:pageId/incidents/:incId",
    summary: "Delete an incident of a status page",
    role: "admin",
    permission: "status_pages:write",
    params: IncidentParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => {
    removePageIncident(deps, params.pageId, params.incId);
    return done;
  }),
];
