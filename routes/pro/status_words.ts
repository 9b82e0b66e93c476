/**
 * How the statuses of a status page read, in every form of it.
 *
 * @module
 */

import type { PublicIncident, PublicPage } from "../../services/pro/status_page_public.ts";

type Status = PublicPage["overall_status"];

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  operational: "Operational",
  under_maintenance: "Under maintenance",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

/** Dark enough for white text on them (4.5 to 1), light enough to tell them apart. */
export const STATUS_COLORS: Readonly<Record<Status, string>> = {
  operational: "#1a7f37",
  under_maintenance: "#0b62c4",
  degraded_performance: "#8a6100",
  partial_outage: "#b54708",
  major_outage: "#c4222c",
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
