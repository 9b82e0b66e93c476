/** /status-pages/public/:slug: the public view of a status page. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { AppError } from "../../../services/errors.ts";
import { publicPage, publicPagesVersion } from "../../../services/pro/status_pages/public.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Timestamp } from "../../contract/shapes.ts";
import { Component, ComponentStatus, Maintenance, PageIncident, Theme } from "./shapes.ts";

const PublicIncident = PageIncident.omit({ page_id: true }).meta({
  id: "PublicStatusPageIncident",
});

const Uptime = z.object({
  uptime_percent: z.number().nullable().meta({ description: "Uptime of the last 90 days" }),
  days: z.array(z.object({ date: z.iso.date(), uptime_percent: z.number().nullable() })).meta({
    description: "The last 90 days (UTC), oldest first; null for unknown days",
  }),
}).meta({
  id: "StatusPageUptime",
  description: "Uptime of a component with a monitor, in percent of the known time",
});

const PublicPage = z.object({
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  theme: Theme,
  overall_status: ComponentStatus.meta({ description: "The worst status of all components" }),
  components: z.array(
    Component.pick({
      id: true,
      name: true,
      description: true,
      status: true,
      display_order: true,
      group_name: true,
    }).extend({ uptime: Uptime.nullable() }),
  ),
  active_incidents: z.array(PublicIncident).meta({ description: "Not resolved, newest first" }),
  recent_incidents: z.array(PublicIncident).meta({ description: "Resolved in the last 14 days" }),
  maintenances: z.array(Maintenance.omit({ page_id: true })).meta({
    description: "Planned or in progress, sorted by start time",
  }),
  updated_at: Timestamp,
}).meta({ id: "PublicStatusPage" });

export const statusPagePublicEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages/public/:slug", {
    operationId: "getPublicStatusPage",
    summary: "Get a public status page",
    description:
      "Needs no token. A page that is not public answers 404, like one that does not exist.",
    role: "public",
    anyAddress: true,
    params: z.object({ slug: z.string().min(1).max(255) }),
    returns: PublicPage,
    failures: { 404: "The status page does not exist" },
    etag: true,
    version: () => publicPagesVersion(deps),
  }, ({ params }) => {
    const page = publicPage(deps, params.slug);
    if (!page) throw new AppError("not_found", `Status page ${params.slug} does not exist`);
    return page;
  }),
];
