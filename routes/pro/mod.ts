/**
 * Every endpoint of the Pro edition, in the order of the specification.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../endpoint.ts";
import { chatChannelEndpoints } from "./chat_channels.ts";
import { incidentEndpoints } from "./incidents.ts";
import { statusPageComponentEndpoints } from "./status_page_components.ts";
import { statusPageIncidentEndpoints } from "./status_page_incidents.ts";
import { statusPageMaintenanceEndpoints } from "./status_page_maintenances.ts";
import { statusPagePublicEndpoints } from "./status_page_public.ts";
import { statusPageSubscriberEndpoints } from "./status_page_subscribers.ts";
import { statusPageEndpoints } from "./status_pages.ts";
import { remediationEndpoints } from "./remediation.ts";
import { slaDefinitionEndpoints } from "./sla_definitions.ts";
import { slaReportEndpoints } from "./sla_reports.ts";
import { subscriberLinkEndpoints } from "./subscriber_links.ts";
import { uptimeHistoryEndpoints } from "./uptime_history.ts";
import { uptimeMonitorEndpoints } from "./uptime_monitors.ts";

/** Under the edition's prefix. */
export const proEndpoints = (deps: Deps): Endpoint[] => [
  ...incidentEndpoints(deps),
  ...uptimeMonitorEndpoints(deps),
  ...uptimeHistoryEndpoints(deps),
  ...slaDefinitionEndpoints(deps),
  ...slaReportEndpoints(deps),
  ...remediationEndpoints(deps),
  ...statusPagePublicEndpoints(deps),
  // Before `/:pageId/...`, which would take its paths.
  ...subscriberLinkEndpoints(deps),
  ...statusPageSubscriberEndpoints(deps),
  ...statusPageEndpoints(deps),
  ...statusPageComponentEndpoints(deps),
  ...statusPageIncidentEndpoints(deps),
  ...statusPageMaintenanceEndpoints(deps),
  ...chatChannelEndpoints(deps),
];
