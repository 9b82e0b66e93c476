/**
 * Every endpoint of the Community Edition, in the order of the specification.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../endpoint.ts";
import { alertEndpoints } from "./alerts.ts";
import { apiDocumentEndpoints } from "./api_document.ts";
import { auditEndpoints } from "./audit.ts";
import { authEndpoints } from "./auth.ts";
import { containerExecEndpoints } from "./containers/exec.ts";
import { containerLogEndpoints } from "./containers/logs.ts";
import { containerEndpoints } from "./containers/containers.ts";
import { editionEndpoints } from "./edition.ts";
import { healthEndpoints } from "./health.ts";
import { imageEndpoints } from "./images.ts";
import { integrationEndpoints } from "./integrations.ts";
import { maintenanceEndpoints } from "./maintenance.ts";
import { metricsEndpoints } from "./metrics.ts";
import { networkEndpoints } from "./networks.ts";
import { overviewEndpoints } from "./overview.ts";
import { probeEndpoints } from "./probes.ts";
import { pushEndpoints } from "./push.ts";
import { scheduleEndpoints } from "./schedules.ts";
import { stackEndpoints } from "./stacks.ts";
import { streamEndpoints } from "./stream.ts";
import { streamTicketEndpoints } from "./stream_ticket.ts";
import { systemEndpoints } from "./system/system.ts";
import { systemMetricsEndpoints } from "./system/metrics.ts";
import { userEndpoints } from "./users.ts";
import { volumeEndpoints } from "./volumes.ts";
import { webhookEndpoints } from "./webhooks.ts";

export const ceEndpoints = (deps: Deps, openApi: () => Promise<string>): Endpoint[] => [
  ...authEndpoints(deps),
  ...userEndpoints(deps),
  ...overviewEndpoints(deps),
  ...healthEndpoints(deps),
  ...systemMetricsEndpoints(deps),
  ...systemEndpoints(deps),
  ...probeEndpoints(deps),
  ...pushEndpoints(deps),
  ...streamEndpoints(deps),
  ...streamTicketEndpoints(deps),
  ...maintenanceEndpoints(deps),
  ...auditEndpoints(deps),
  ...editionEndpoints(deps),
  ...containerEndpoints(deps),
  ...metricsEndpoints(deps),
  ...containerLogEndpoints(deps),
  ...containerExecEndpoints(deps),
  ...stackEndpoints(deps),
  ...imageEndpoints(deps),
  ...networkEndpoints(deps),
  ...volumeEndpoints(deps),
  ...alertEndpoints(deps),
  ...scheduleEndpoints(deps),
  ...webhookEndpoints(deps),
  ...integrationEndpoints(deps),
  ...apiDocumentEndpoints(openApi),
];
