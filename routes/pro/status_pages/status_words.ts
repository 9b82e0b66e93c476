/** Labels and colors of statuses, for page, feed and badge. @module */

import type { PublicPage } from "../../../services/pro/status_pages/public.ts";

export {
  INCIDENT_WORDS,
  MAINTENANCE_WORDS,
  SEVERITY_WORDS,
  STATUS_WORDS,
} from "../../../services/pro/status_pages/status_words.ts";

/** Dark enough for white text on them (4.5 to 1), light enough to distinguish. */
export const STATUS_COLORS: Readonly<Record<PublicPage["overall_status"], string>> = {
  operational: "#1a7f37",
  under_maintenance: "#0b62c4",
  degraded_performance: "#8a6100",
  partial_outage: "#b54708",
  major_outage: "#c4222c",
};
