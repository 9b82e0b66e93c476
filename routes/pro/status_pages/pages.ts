/** /status-pages: status pages with their names and addresses. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { DOMAIN_MAX } from "../../../services/pro/status_pages/custom_domain.ts";
import {
  changeStatusPage,
  createStatusPage,
  getStatusPage,
  listStatusPages,
  removeStatusPage,
} from "../../../services/pro/status_pages/pages.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, oneLine, paged, pagingQuery } from "../../contract/shapes.ts";
import {
  Component,
  ComponentStatus,
  multiLine,
  NAME_MAX,
  PageIncident,
  StatusPage,
  Theme,
  UNKNOWN_PAGE,
} from "./shapes.ts";

const fields = {
  name: oneLine(NAME_MAX),
  description: multiLine(),
  is_public: z.boolean().meta({ description: "Whether the page can be read without a token" }),
  custom_domain: z.string().max(DOMAIN_MAX).nullable().meta({
    description: "The page is served at `/` for requests with this host",
    example: "status.example.com",
  }),
  theme: Theme,
};

const EXAMPLE = {
  name: "Acme",
  description: "Status of our services",
  is_public: true,
  custom_domain: "status.example.com",
  theme: { primary_color: "#0f766e" },
};

const NewStatusPage = z.object({
  ...fields,
  description: fields.description.default(""),
  is_public: fields.is_public.default(true),
  custom_domain: fields.custom_domain.default(null),
  theme: fields.theme.default({}),
}).meta({ id: "NewStatusPage", example: EXAMPLE });

const StatusPageChange = z.object(fields).partial().meta({
  id: "StatusPageChanges",
  example: EXAMPLE,
});

const StatusPageDetail = StatusPage.extend({
  overall_status: ComponentStatus.meta({ description: "The worst status of all components" }),
  components: z.array(Component),
  active_incidents: z.array(PageIncident),
}).meta({ id: "StatusPageDetail" });

const CONFLICT = { 409: "Another page or the dashboard has this domain" };

const READ = { role: "viewer", permission: "status_pages:read" } as const;
const WRITE = { role: "admin", permission: "status_pages:write" } as const;

export const statusPageEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages", {
    operationId: "listStatusPages",
    summary: "List status pages",
    description: "Newest first.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ pages: z.array(StatusPage) }).meta({ id: "StatusPagePage" }),
  }, ({ query }) => listStatusPages(deps, query)),

  endpoint("POST /status-pages", {
    operationId: "createStatusPage",
    summary: "Create a status page",
    description: "The slug is derived from the name: `acme`, or `acme-2` if it is taken.",
    ...WRITE,
    body: NewStatusPage,
    returns: StatusPage,
    status: 201,
    failures: { 402: "The edition allows no more status pages", ...CONFLICT },
  }, ({ body, request }) => createStatusPage(deps, body, baseUrl(deps.config, request))),

  endpoint("GET /status-pages/:pageId", {
    operationId: "getStatusPage",
    summary: "Get a status page",
    description: "Includes its components in display order, and its unresolved incidents, newest " +
      "first.",
    ...READ,
    returns: StatusPageDetail,
    failures: UNKNOWN_PAGE,
  }, ({ params }) => getStatusPage(deps, params.pageId)),

  endpoint(
    "PUT /status-pages/:pageId",
    {
      operationId: "updateStatusPage",
      summary: "Update a status page",
      description:
        "Omitted fields keep their values. The slug does not change. `theme` is replaced as a " +
        "whole.",
      ...WRITE,
      body: StatusPageChange,
      returns: StatusPage,
      failures: { ...UNKNOWN_PAGE, ...CONFLICT },
    },
    ({ params, body, request }) =>
      changeStatusPage(deps, params.pageId, body, baseUrl(deps.config, request)),
  ),

  endpoint("DELETE /status-pages/:pageId", {
    operationId: "deleteStatusPage",
    summary: "Delete a status page",
    description: "Also deletes its components, incidents, subscribers and pending notifications.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN_PAGE,
  }, ({ params }) => removeStatusPage(deps, params.pageId)),
];
