/** Shapes that the endpoints of status pages share. @module */

import * as z from "zod";
import { COMPONENT_STATUSES } from "../../../services/pro/status_pages/components.ts";
import {
  PAGE_INCIDENT_SEVERITIES,
  PAGE_INCIDENT_STATUSES,
} from "../../../services/pro/status_pages/incidents.ts";
import { MAINTENANCE_STATUSES } from "../../../services/pro/status_pages/maintenances.ts";
import { Color, Timestamp } from "../../contract/shapes.ts";

/** Limits of names and titles, in UTF-16 units. */
export const NAME_MAX = 200;
export const TITLE_MAX = 500;

/** Limit of texts, in UTF-16 units: at least 10,000 characters of any script. */
const TEXT_MAX = 20_000;

/** Text of any number of lines. */
export const multiLine = () =>
  z.string().max(TEXT_MAX)
    // The feed is XML, which cannot contain these characters (XML 1.0, section 2.2).
    // deno-lint-ignore no-control-regex
    .refine((text) => !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/.test(text), {
      error: "must not contain control characters",
    });

export const Theme = z.strictObject({
  primary_color: Color.optional().meta({ example: "#0f766e" }),
}).meta({ id: "StatusPageTheme" });

export const ComponentStatus = z.enum(COMPONENT_STATUSES).meta({ id: "StatusPageComponentStatus" });
export const PageIncidentSeverity = z.enum(PAGE_INCIDENT_SEVERITIES).meta({
  id: "StatusPageIncidentSeverity",
});
export const PageIncidentStatus = z.enum(PAGE_INCIDENT_STATUSES).meta({
  id: "StatusPageIncidentStatus",
});

export const Component = z.object({
  id: z.string(),
  page_id: z.string(),
  name: z.string(),
  description: z.string(),
  status: ComponentStatus,
  display_order: z.int(),
  group_name: z.string().nullable(),
  monitor_id: z.string().nullable().meta({ description: "The monitor that its status follows" }),
  created_at: Timestamp,
  updated_at: Timestamp,
  shown_status: ComponentStatus.meta({
    description:
      "Status on the page: `under_maintenance` during planned maintenance, otherwise `status`",
  }),
}).meta({ id: "StatusPageComponent" });

export const Maintenance = z.object({
  id: z.string(),
  page_id: z.string(),
  title: z.string(),
  message: z.string(),
  status: z.enum(MAINTENANCE_STATUSES),
  starts_at: Timestamp,
  ends_at: Timestamp,
  component_ids: z.array(z.string()),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "StatusPageMaintenance" });

const IncidentUpdate = z.object({
  id: z.string(),
  status: PageIncidentStatus,
  message: z.string().meta({ description: "Empty if only the status changed" }),
  created_at: Timestamp,
}).meta({ id: "StatusPageIncidentUpdate" });

export const PageIncident = z.object({
  id: z.string(),
  page_id: z.string(),
  title: z.string(),
  message: z.string().meta({ description: "The last message" }),
  severity: PageIncidentSeverity,
  status: PageIncidentStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
  resolved_at: Timestamp.nullable(),
  updates: z.array(IncidentUpdate).meta({ description: "Newest first" }),
}).meta({ id: "StatusPageIncident" });

export const StatusPage = z.object({
  id: z.string(),
  slug: z.string().meta({
    description: "Derived from the name at creation; later changes of the name do not affect it",
  }),
  name: z.string(),
  description: z.string(),
  is_public: z.boolean(),
  custom_domain: z.string().nullable(),
  theme: Theme,
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "StatusPage" });

export const UNKNOWN_PAGE = { 404: "The status page does not exist" };
