/**
 * Every migration, oldest first. All run in every edition, so a new license needs no migration.
 *
 * @module
 */

import type { Migration } from "../migrate.ts";
import { migration as metricSamples } from "./metrics/0001_ce_metric_samples.ts";
import { migration as integrationData } from "./metrics/0002_ce_integration_data.ts";
import { migration as uptimeChecks } from "./metrics/0003_pro_uptime_checks.ts";
import { migration as containerSamples } from "./metrics/0004_ce_container_samples.ts";
import { migration as users } from "./state/0001_ce_users.ts";
import { migration as audit } from "./state/0002_ce_audit.ts";
import { migration as alerts } from "./state/0003_ce_alerts.ts";
import { migration as schedules } from "./state/0004_ce_schedules.ts";
import { migration as webhooks } from "./state/0005_ce_webhooks.ts";
import { migration as integrations } from "./state/0006_ce_integrations.ts";
import { migration as pushTokens } from "./state/0007_ce_push_tokens.ts";
import { migration as certificateNotices } from "./state/0008_ce_certificate_notices.ts";
import { migration as serviceStops } from "./state/0009_ce_service_stops.ts";
import { migration as loginEnds } from "./state/0010_ce_login_ends.ts";
import { migration as incidents } from "./state/0020_pro_incidents.ts";
import { migration as uptime } from "./state/0021_pro_uptime.ts";
import { migration as sla } from "./state/0022_pro_sla.ts";
import { migration as remediation } from "./state/0023_pro_remediation.ts";
import { migration as statusPages } from "./state/0024_pro_status_pages.ts";
import { migration as chat } from "./state/0025_pro_chat.ts";
import { migration as sso } from "./state/0040_enterprise_sso.ts";
import { migration as branding } from "./state/0041_enterprise_branding.ts";
import { migration as customRoles } from "./state/0042_enterprise_roles.ts";
import { migration as ipAllowlist } from "./state/0043_enterprise_ip_allowlist.ts";
import { migration as mtls } from "./state/0044_enterprise_mtls.ts";
import { migration as encryption } from "./state/0045_enterprise_encryption.ts";
import { migration as compliance } from "./state/0046_enterprise_compliance.ts";
import { migration as rebuilds } from "./state/0052_ce_rebuilds.ts";
import { migration as refreshRepeats } from "./state/0054_ce_refresh_repeats.ts";
import { migration as pushTokenSecrets } from "./state/0056_ce_push_token_secrets.ts";
import { migration as incidentUpdates } from "./state/0057_pro_incident_updates.ts";
import { migration as maintenances } from "./state/0058_pro_maintenances.ts";
import { migration as auditDetails } from "./state/0061_ce_audit_details.ts";
import { migration as slaBreachCoverage } from "./state/0062_pro_sla_breach_coverage.ts";

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
  serviceStops,
  loginEnds,
  incidents,
  uptime,
  sla,
  remediation,
  statusPages,
  chat,
  sso,
  branding,
  customRoles,
  ipAllowlist,
  mtls,
  encryption,
  compliance,
  rebuilds,
  refreshRepeats,
  pushTokenSecrets,
  incidentUpdates,
  maintenances,
  auditDetails,
  slaBreachCoverage,
];

/** Of `metrics.sqlite`. */
export const metricsMigrations: readonly Migration[] = [
  metricSamples,
  integrationData,
  uptimeChecks,
  containerSamples,
];
