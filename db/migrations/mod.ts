/**
 * Every migration, oldest first. All run in every edition, so a new license needs no migration.
 *
 * @module
 */

import type { Migration } from "../migrate.ts";
import { migration as metricSamples } from "./0001_ce_metric_samples.ts";
import { migration as integrationData } from "./0002_ce_integration_data.ts";
import { migration as users } from "./0001_ce_users.ts";
import { migration as audit } from "./0002_ce_audit.ts";
import { migration as alerts } from "./0003_ce_alerts.ts";
import { migration as schedules } from "./0004_ce_schedules.ts";
import { migration as webhooks } from "./0005_ce_webhooks.ts";
import { migration as integrations } from "./0006_ce_integrations.ts";
import { migration as pushTokens } from "./0007_ce_push_tokens.ts";
import { migration as certificateNotices } from "./0008_ce_certificate_notices.ts";

/** Of `state.sqlite`. */
export const stateMigrations: readonly Migration[] = [
  users,
  audit,
  alerts,
  schedules,
  webhooks,
  integrations,
  pushTokens,
  certificateNotices,
];

/** Of `metrics.sqlite`. */
export const metricsMigrations: readonly Migration[] = [metricSamples, integrationData];
