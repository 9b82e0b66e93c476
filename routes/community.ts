/**
 * Every endpoint of the Community Edition by its path, in the order of the specification.
 *
 * @module
 */

import type { EndpointGroup } from "./contract/group.ts";

export const communityGroups: readonly EndpointGroup[] = [
  {
    paths: ["/auth"],
    parts: [
      async () => (await import("./auth.ts")).authEndpoints,
      async () => (await import("./session.ts")).sessionEndpoints,
      async () => (await import("./users/users.ts")).userEndpoints,
    ],
  },
  {
    paths: ["/api/account", "/api/users", "/api/sessions"],
    parts: [
      async () => (await import("./account.ts")).accountEndpoints,
      async () => (await import("./users/sessions.ts")).userSessionEndpoints,
    ],
  },
  {
    paths: ["/api/tokens"],
    parts: [async () => (await import("./api_tokens.ts")).apiTokenEndpoints],
  },
  {
    paths: ["/api/overview"],
    parts: [async () => (await import("./overview.ts")).overviewEndpoints],
  },
  {
    paths: ["/api/health", "/health", "/livez", "/readyz"],
    parts: [async () => (await import("./health.ts")).healthEndpoints],
  },
  {
    paths: ["/api/system"],
    parts: [
      async () => (await import("./system/metrics.ts")).systemMetricsEndpoints,
      async () => (await import("./system/system.ts")).systemEndpoints,
    ],
  },
  {
    paths: ["/api/endpoints", "/api/ssl"],
    parts: [async () => (await import("./probes.ts")).probeEndpoints],
  },
  {
    paths: ["/api/push"],
    parts: [async () => (await import("./push.ts")).pushEndpoints],
  },
  {
    paths: ["/api/stream"],
    parts: [
      async () => (await import("./stream/stream.ts")).streamEndpoints,
      async () => (await import("./stream/ticket.ts")).streamTicketEndpoints,
    ],
  },
  {
    paths: ["/api/maintenance"],
    parts: [
      async () => (await import("./maintenance/mode.ts")).maintenanceEndpoints,
      async () => (await import("./maintenance/windows.ts")).maintenanceWindowEndpoints,
    ],
  },
  {
    paths: ["/api/backup"],
    parts: [async () => (await import("./backup.ts")).backupEndpoints],
  },
  {
    paths: ["/api/audit"],
    parts: [async () => (await import("./audit.ts")).auditEndpoints],
  },
  {
    paths: ["/api/edition"],
    parts: [async () => (await import("./edition.ts")).editionEndpoints],
  },
  {
    paths: ["/api/containers", "/api/metrics", "/metrics"],
    parts: [
      async () => (await import("./containers/containers.ts")).containerEndpoints,
      async () => (await import("./containers/signals.ts")).containerSignalEndpoints,
      async () => (await import("./containers/settings.ts")).containerSettingsEndpoints,
      async () => (await import("./containers/description.ts")).containerDescriptionEndpoints,
      async () => (await import("./metrics.ts")).metricsEndpoints,
      async () => (await import("./containers/logs.ts")).containerLogEndpoints,
      async () => (await import("./containers/log_streams.ts")).containerLogStreamEndpoints,
      async () => (await import("./containers/exec.ts")).containerExecEndpoints,
      async () => (await import("./containers/terminal.ts")).terminalEndpoints,
      async () => (await import("./updates/container_update.ts")).containerUpdateEndpoints,
    ],
  },
  {
    paths: ["/api/stacks", "/api/compose"],
    parts: [
      async () => (await import("./stacks/stacks.ts")).stackEndpoints,
      async () => (await import("./updates/stack_update.ts")).stackUpdateEndpoints,
      async () => (await import("./stacks/validation.ts")).stackValidationEndpoints,
      async () => (await import("./stacks/sources.ts")).stackSourceEndpoints,
      async () => (await import("./stacks/generate.ts")).stackGenerateEndpoints,
      async () => (await import("./stacks/plan.ts")).stackPlanEndpoints,
      async () => (await import("./stacks/deploys.ts")).stackDeployEndpoints,
      async () => (await import("./containers/log_streams.ts")).stackLogStreamEndpoints,
    ],
  },
  {
    paths: ["/api/logs"],
    parts: [async () => (await import("./containers/log_streams.ts")).logStreamEndpoints],
  },
  {
    paths: ["/api/images"],
    parts: [async () => (await import("./images.ts")).imageEndpoints],
  },
  {
    paths: ["/api/updates"],
    parts: [
      async () => (await import("./updates/updates.ts")).updateEndpoints,
      async () => (await import("./updates/check.ts")).updateCheckEndpoints,
      async () => (await import("./updates/settings.ts")).updateSettingsEndpoints,
      async () => (await import("./updates/blocked.ts")).blockedUpdateEndpoints,
    ],
  },
  {
    paths: ["/api/registries"],
    parts: [async () => (await import("./registries.ts")).registryEndpoints],
  },
  {
    paths: ["/api/jobs"],
    parts: [async () => (await import("./jobs.ts")).jobEndpoints],
  },
  {
    paths: ["/api/networks"],
    parts: [async () => (await import("./networks.ts")).networkEndpoints],
  },
  {
    paths: ["/api/volumes"],
    parts: [async () => (await import("./volumes.ts")).volumeEndpoints],
  },
  {
    paths: ["/api/alerts"],
    parts: [async () => (await import("./alerts.ts")).alertEndpoints],
  },
  {
    paths: ["/api/silences"],
    parts: [async () => (await import("./silences.ts")).silenceEndpoints],
  },
  {
    paths: ["/api/schedules"],
    parts: [async () => (await import("./schedules.ts")).scheduleEndpoints],
  },
  {
    paths: ["/api/notifications"],
    parts: [async () => (await import("./notifications.ts")).notificationEndpoints],
  },
  {
    paths: ["/api/events"],
    parts: [async () => (await import("./events.ts")).eventEndpoints],
  },
  {
    paths: ["/api/webhooks"],
    parts: [async () => (await import("./webhooks.ts")).webhookEndpoints],
  },
  {
    paths: ["/api/integrations"],
    parts: [async () => (await import("./integrations.ts")).integrationEndpoints],
  },
  {
    paths: ["/docs", "/openapi.json"],
    parts: [async () => (await import("./api_document.ts")).apiDocumentEndpoints],
  },
  {
    paths: ["/"],
    parts: [async () => (await import("./dashboard/endpoints.ts")).dashboardEndpoints],
  },
];
