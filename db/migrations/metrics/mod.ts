/** The migrations of `metrics.sqlite`, oldest first. All of them run in every edition. @module */

import type { Migration } from "../../migrate.ts";
import { migration as metricSamples } from "./0001_ce_metric_samples.ts";
import { migration as integrationData } from "./0002_ce_integration_data.ts";
import { migration as uptimeChecks } from "./0003_pro_uptime_checks.ts";
import { migration as containerSamples } from "./0004_ce_container_samples.ts";
import { migration as containerRates } from "./0005_ce_container_rates.ts";

export const metricsMigrations: readonly Migration[] = [
  metricSamples,
  integrationData,
  uptimeChecks,
  containerSamples,
  containerRates,
];
