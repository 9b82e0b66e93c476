/**
 * The migrations of `state.sqlite`, oldest first. All of them run in every edition, so that a new
 * license key needs no migration.
 *
 * @module
 */

import type { Migration } from "../../migrate.ts";
import { migration as users } from "./0001_ce_users.ts";
import { migration as audit } from "./0002_ce_audit.ts";
import { migration as alerts } from "./0003_ce_alerts.ts";
import { migration as schedules } from "./0004_ce_schedules.ts";
import { migration as webhooks } from "./0005_ce_webhooks.ts";
import { migration as integrations } from "./0006_ce_integrations.ts";
import { migration as pushTokens } from "./0007_ce_push_tokens.ts";
import { migration as certificateNotices } from "./0008_ce_certificate_notices.ts";
import { migration as serviceStops } from "./0009_ce_service_stops.ts";
import { migration as loginEnds } from "./0010_ce_login_ends.ts";
import { migration as incidents } from "./0020_pro_incidents.ts";
import { migration as uptime } from "./0021_pro_uptime.ts";
import { migration as sla } from "./0022_pro_sla.ts";
import { migration as remediation } from "./0023_pro_remediation.ts";
import { migration as statusPages } from "./0024_pro_status_pages.ts";
import { migration as chat } from "./0025_pro_chat.ts";
import { migration as sso } from "./0040_enterprise_sso.ts";
import { migration as branding } from "./0041_enterprise_branding.ts";
import { migration as customRoles } from "./0042_enterprise_roles.ts";
import { migration as ipAllowlist } from "./0043_enterprise_ip_allowlist.ts";
import { migration as mtls } from "./0044_enterprise_mtls.ts";
import { migration as encryption } from "./0045_enterprise_encryption.ts";
import { migration as compliance } from "./0046_enterprise_compliance.ts";
import { migration as rebuilds } from "./0052_ce_rebuilds.ts";
import { migration as refreshRepeats } from "./0054_ce_refresh_repeats.ts";
import { migration as pushTokenSecrets } from "./0056_ce_push_token_secrets.ts";
import { migration as incidentUpdates } from "./0057_pro_incident_updates.ts";
import { migration as maintenances } from "./0058_pro_maintenances.ts";
import { migration as auditDetails } from "./0061_ce_audit_details.ts";
import { migration as slaBreachCoverage } from "./0062_pro_sla_breach_coverage.ts";
import { migration as apiTokens } from "./0063_ce_api_tokens.ts";
import { migration as jobs } from "./0064_ce_jobs.ts";
import { migration as sessions } from "./0066_ce_sessions.ts";
import { migration as accountDetails } from "./0067_ce_account_details.ts";
import { migration as registries } from "./0068_ce_registries.ts";
import { migration as updates } from "./0069_ce_updates.ts";
import { migration as scheduleUpdates } from "./0070_ce_schedule_updates.ts";
import { migration as updateRuns } from "./0073_ce_update_runs.ts";
import { migration as stackVersions } from "./0076_ce_stack_versions.ts";
import { migration as terminalShells } from "./0079_ce_terminal_shells.ts";
import { migration as notifications } from "./0089_ce_notifications.ts";
import { migration as alertScopes } from "./0090_ce_alert_scopes.ts";
import { migration as crashLoops } from "./0092_ce_crash_loops.ts";
import { migration as notificationGroups } from "./0093_ce_notification_groups.ts";
import { migration as silences } from "./0094_ce_silences.ts";
import { migration as maintenanceWindows } from "./0095_ce_maintenance_windows.ts";
import { migration as heldNotifications } from "./0096_ce_held_notifications.ts";
import { migration as chatOrder } from "./0097_pro_chat_order.ts";
import { migration as rebuildJobs } from "./0100_ce_rebuild_jobs.ts";
import { migration as ssoBrowsers } from "./0101_enterprise_sso_browsers.ts";
import { migration as pageSecrets } from "./0102_ce_page_secrets.ts";
import { migration as updateKinds } from "./0103_ce_update_kinds.ts";

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
  apiTokens,
  jobs,
  sessions,
  accountDetails,
  registries,
  updates,
  scheduleUpdates,
  updateRuns,
  stackVersions,
  terminalShells,
  notifications,
  alertScopes,
  crashLoops,
  notificationGroups,
  silences,
  maintenanceWindows,
  heldNotifications,
  chatOrder,
  rebuildJobs,
  ssoBrowsers,
  pageSecrets,
  updateKinds,
];
