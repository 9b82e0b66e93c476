/** The migrations of `metrics.sqlite`, oldest first. All of them run in every edition. @module */

import type { Migration } from "../../migrate.ts";
import { migration as hostSamples } from "./0001_host_samples.ts";
import { migration as containerSamples } from "./0002_container_samples.ts";
import { migration as integrationData } from "./0003_integration_data.ts";
import { migration as uptimeChecks } from "./0004_uptime_checks.ts";

export const metricsMigrations: readonly Migration[] = [
  hostSamples,
  containerSamples,
  integrationData,
  uptimeChecks,
];
