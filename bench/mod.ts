/** Runs the measurements: all of them, or those that the arguments name. @module */

import { findEngine, startDockerd } from "../tests/helpers/real_engine.ts";
import { benchAlerts } from "./alerts.ts";
import { benchBackup } from "./backup.ts";
import { benchBaseline } from "./baseline.ts";
import { benchCompliance } from "./compliance.ts";
import { benchConnections } from "./connections.ts";
import { benchContainers } from "./containers.ts";
import { benchDashboard } from "./dashboard.ts";
import { benchFleet } from "./fleet.ts";
import { benchFleetLink } from "./fleet_link.ts";
import { benchImages } from "./images.ts";
import { benchLogins } from "./logins.ts";
import { benchLogs } from "./logs.ts";
import { benchMetrics } from "./metrics.ts";
import { benchNotifications } from "./notifications.ts";
import { benchSampling } from "./sampling.ts";
import { benchSse } from "./sse.ts";
import { benchStart } from "./start.ts";
import { benchStatusPage } from "./status_page.ts";
import { benchTakeover } from "./takeover.ts";
import { benchTerminals } from "./terminals.ts";
import { benchUptime } from "./uptime.ts";
import { benchVolumes } from "./volumes.ts";
import { benchWebhooks } from "./webhooks.ts";

const BENCHES = {
  start: benchStart,
  baseline: benchBaseline,
  connections: benchConnections,
  containers: benchContainers,
  metrics: benchMetrics,
  sampling: benchSampling,
  alerts: benchAlerts,
  notifications: benchNotifications,
  sse: benchSse,
  images: benchImages,
  dashboard: benchDashboard,
  logs: benchLogs,
  terminals: benchTerminals,
  logins: benchLogins,
  "status-page": benchStatusPage,
  uptime: benchUptime,
  volumes: benchVolumes,
  takeover: benchTakeover,
  backup: benchBackup,
  compliance: benchCompliance,
  webhooks: benchWebhooks,
  fleet: benchFleet,
  "fleet-link": benchFleetLink,
};

const names = Deno.args.length ? Deno.args : Object.keys(BENCHES);
const unknown = names.filter((name) => !(name in BENCHES));
if (unknown.length) {
  console.error(
    `No such bench: ${unknown.join(", ")}. There are ${Object.keys(BENCHES).join(", ")}`,
  );
  Deno.exit(2);
}

await using own = await startDockerd().catch(() => undefined);
const engine = own ?? await findEngine();
if (!engine) {
  console.error("There is no container engine to measure beside, and none can be started");
  Deno.exit(1);
}
for (const name of names) await BENCHES[name as keyof typeof BENCHES](engine);
