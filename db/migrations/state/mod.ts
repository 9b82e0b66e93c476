/**
 * The migrations of `state.sqlite`, oldest first. All of them run in every edition, so that a new
 * license key needs no migration.
 *
 * @module
 */

import type { Migration } from "../../migrate.ts";
import { migration as users } from "./0001_users.ts";
import { migration as sessions } from "./0002_sessions.ts";
import { migration as apiTokens } from "./0003_api_tokens.ts";
import { migration as audit } from "./0004_audit.ts";
import { migration as alerts } from "./0005_alerts.ts";
import { migration as silences } from "./0006_silences.ts";
import { migration as maintenanceWindows } from "./0007_maintenance_windows.ts";
import { migration as schedules } from "./0008_schedules.ts";
import { migration as webhooks } from "./0009_webhooks.ts";
import { migration as notifications } from "./0010_notifications.ts";
import { migration as notificationGroups } from "./0011_notification_groups.ts";
import { migration as pushTokens } from "./0012_push_tokens.ts";
import { migration as integrations } from "./0013_integrations.ts";
import { migration as certificateNotices } from "./0014_certificate_notices.ts";
import { migration as serviceStops } from "./0015_service_stops.ts";
import { migration as loginEnds } from "./0016_login_ends.ts";
import { migration as jobs } from "./0017_jobs.ts";
import { migration as registries } from "./0018_registries.ts";
import { migration as updates } from "./0019_updates.ts";
import { migration as stackVersions } from "./0020_stack_versions.ts";
import { migration as terminalShells } from "./0021_terminal_shells.ts";
import { migration as crashLoops } from "./0022_crash_loops.ts";
import { migration as incidents } from "./0023_incidents.ts";
import { migration as uptime } from "./0024_uptime.ts";
import { migration as sla } from "./0025_sla.ts";
import { migration as remediation } from "./0026_remediation.ts";
import { migration as statusPages } from "./0027_status_pages.ts";
import { migration as chat } from "./0028_chat.ts";
import { migration as sso } from "./0029_sso.ts";
import { migration as branding } from "./0030_branding.ts";
import { migration as roles } from "./0031_roles.ts";
import { migration as ipAllowlist } from "./0032_ip_allowlist.ts";
import { migration as mtls } from "./0033_mtls.ts";
import { migration as encryption } from "./0034_encryption.ts";
import { migration as compliance } from "./0035_compliance.ts";
import { migration as chatView } from "./0036_chat_view.ts";
import { migration as jobTokens } from "./0037_job_tokens.ts";
import { migration as secondFactors } from "./0038_second_factors.ts";
import { migration as oidc } from "./0039_oidc.ts";
import { migration as backupTargets } from "./0040_backup_targets.ts";
import { migration as temporaryNames } from "./0041_temporary_names.ts";
import { migration as refusedUsers } from "./0042_refused_users.ts";
import { migration as foreignPasswords } from "./0043_foreign_passwords.ts";
import { migration as clientsOfSignIns } from "./0044_clients_of_sign_ins.ts";
import { migration as uploadedIcons } from "./0045_uploaded_icons.ts";
import { migration as oidcCallbacks } from "./0046_oidc_callbacks.ts";
import { migration as scheduleKinds } from "./0047_schedule_kinds.ts";
import { migration as lastBackups } from "./0048_last_backups.ts";
import { migration as backupDrills } from "./0049_backup_drills.ts";
import { migration as keptData } from "./0050_kept_data.ts";
import { migration as fleetKeys } from "./0051_fleet_keys.ts";
import { migration as fleetHosts } from "./0052_fleet_hosts.ts";
import { migration as fleetMembership } from "./0053_fleet_membership.ts";
import { migration as auditHubs } from "./0054_audit_hubs.ts";
import { migration as swarmJobs } from "./0056_swarm_jobs.ts";
import { migration as backupModes } from "./0059_backup_modes.ts";
import { migration as git } from "./0061_git.ts";
import { migration as versionCommits } from "./0062_version_commits.ts";
import { migration as foreignAccess } from "./0064_foreign_access.ts";
import { migration as fleetEvents } from "./0065_fleet_events.ts";
import { migration as hostScopes } from "./0066_host_scopes.ts";
import { migration as fleetNextKeys } from "./0067_fleet_next_keys.ts";
import { migration as fleetBlocks } from "./0068_fleet_blocks.ts";
import { migration as fleetVerdicts } from "./0069_fleet_verdicts.ts";
import { migration as fleetPending } from "./0070_fleet_pending.ts";
import { migration as fleetBoxes } from "./0071_fleet_boxes.ts";
import { migration as gitLabels } from "./0072_git_labels.ts";
import { migration as fleetDialled } from "./0075_fleet_dialled.ts";
import { migration as fleetFormerKeys } from "./0077_fleet_former_keys.ts";
import { migration as fleetQueueOwner } from "./0079_fleet_queue_owner.ts";
import { migration as leftStopped } from "./0080_left_stopped.ts";
import { migration as fleetHubKeys } from "./0082_fleet_hub_keys.ts";
import { migration as fleetInviteHubKeys } from "./0085_fleet_invite_hub_keys.ts";
import { migration as fleetNoteKeys } from "./0089_fleet_note_keys.ts";

export const stateMigrations: readonly Migration[] = [
  users,
  sessions,
  apiTokens,
  audit,
  alerts,
  silences,
  maintenanceWindows,
  schedules,
  webhooks,
  notifications,
  notificationGroups,
  pushTokens,
  integrations,
  certificateNotices,
  serviceStops,
  loginEnds,
  jobs,
  registries,
  updates,
  stackVersions,
  terminalShells,
  crashLoops,
  incidents,
  uptime,
  sla,
  remediation,
  statusPages,
  chat,
  sso,
  branding,
  roles,
  ipAllowlist,
  mtls,
  encryption,
  compliance,
  chatView,
  jobTokens,
  secondFactors,
  oidc,
  backupTargets,
  temporaryNames,
  refusedUsers,
  foreignPasswords,
  clientsOfSignIns,
  uploadedIcons,
  oidcCallbacks,
  scheduleKinds,
  lastBackups,
  backupDrills,
  keptData,
  fleetKeys,
  fleetHosts,
  fleetMembership,
  auditHubs,
  swarmJobs,
  backupModes,
  git,
  versionCommits,
  foreignAccess,
  fleetEvents,
  hostScopes,
  fleetNextKeys,
  fleetBlocks,
  fleetVerdicts,
  fleetPending,
  fleetBoxes,
  gitLabels,
  fleetDialled,
  fleetFormerKeys,
  fleetQueueOwner,
  leftStopped,
  fleetHubKeys,
  fleetInviteHubKeys,
  fleetNoteKeys,
];
