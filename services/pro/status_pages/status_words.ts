/** The texts of statuses on status pages and in mails. @module */

import type { ComponentStatus } from "../../../db/pro/status_pages/components.ts";
import type { MaintenanceStatus } from "../../../db/pro/status_pages/maintenances.ts";
import type { PublicIncident } from "./public.ts";

export const STATUS_WORDS: Readonly<Record<ComponentStatus, string>> = {
  operational: "Operational",
  under_maintenance: "Under maintenance",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

export const INCIDENT_WORDS: Readonly<Record<PublicIncident["status"], string>> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

export const SEVERITY_WORDS: Readonly<Record<PublicIncident["severity"], string>> = {
  minor: "Minor",
  major: "Major",
  critical: "Critical",
  maintenance: "Maintenance",
};

export const MAINTENANCE_WORDS: Readonly<Record<MaintenanceStatus | "cancelled", string>> = {
  scheduled: "Scheduled",
  in_progress: "In progress",
  completed: "Completed",
  cancelled: "Cancelled",
};
