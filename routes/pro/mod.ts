/** Every endpoint of the Pro edition, in the order of the specification. @module */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { chatChannelEndpoints } from "./chat_channels.ts";
import { incidentEndpoints } from "./incidents.ts";
import { statusPageComponentEndpoints } from "./status_pages/components.ts";
import { statusPageIncidentEndpoints } from "./status_pages/incidents.ts";
import { statusPageMaintenanceEndpoints } from "./status_pages/maintenances.ts";
import { statusPagePublicEndpoints } from "./status_pages/public.ts";
import { statusPageSubscriberEndpoints } from "./status_pages/subscribers.ts";
import { statusPageEndpoints } from "./status_pages/pages.ts";
import { remediationEndpoints } from "./remediation.ts";
import { slaDefinitionEndpoints } from "./sla/definitions.ts";
import { slaReportEndpoints } from "./sla/reports.ts";
import { subscriberLinkEndpoints } from "./status_pages/subscriber_links.ts";
import { uptimeHistoryEndpoints } from "./uptime_history.ts";
import { uptimeMonitorEndpoints } from "./uptime_monitors.ts";

/** Paths are relative to the edition's prefix. */
export const proEndpoints = (deps: Deps): Endpoint[] => [
  ...incidentEndpoints(deps),
  ...uptimeMonitorEndpoints(deps),
  ...uptimeHistoryEndpoints(deps),
  ...slaDefinitionEndpoints(deps),
  ...slaReportEndpoints(deps),
  ...remediationEndpoints(deps),
  ...statusPagePublicEndpoints(deps),
  // Before `/:pageId/...`, which would match their paths.
  ...subscriberLinkEndpoints(deps),
  ...statusPageSubscriberEndpoints(deps),
  ...statusPageEndpoints(deps),
  ...statusPageComponentEndpoints(deps),
  ...statusPageIncidentEndpoints(deps),
  ...statusPageMaintenanceEndpoints(deps),
  ...chatChannelEndpoints(deps),
];
