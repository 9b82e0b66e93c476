/**
 * Every endpoint of the Community Edition by its path, in the order of the specification.
 *
 * @module
 */

import { type EndpointGroup, group } from "./contract/group.ts";
import * as health from "./health.ts";

export const communityGroups: readonly EndpointGroup[] = [
  group(
    ["/auth", "/api/settings", "/api/setup"],
    () => import("./auth.ts"),
    () => import("./setup.ts"),
    () => import("./session.ts"),
    () => import("./identity/oidc_login.ts"),
    () => import("./factors/sign_in.ts"),
    () => import("./users/users.ts"),
  ),
  group(
    ["/api/account", "/api/users", "/api/sessions"],
    () => import("./account.ts"),
    () => import("./factors/totp.ts"),
    () => import("./factors/passkeys.ts"),
    () => import("./users/sessions.ts"),
    () => import("./users/identities.ts"),
  ),
  group("/api/identity", () => import("./identity/oidc_providers.ts")),
  group("/api/tokens", () => import("./api_tokens.ts")),
  group("/api/overview", () => import("./overview.ts")),
  // Loaded at the start: the first probe may come when no file descriptor is free.
  group(["/api/health", "/health", "/livez", "/readyz"], () => Promise.resolve(health)),
  group("/api/system", () => import("./system/metrics.ts"), () => import("./system/system.ts")),
  group(["/api/endpoints", "/api/ssl"], () => import("./probes.ts")),
  group("/api/push", () => import("./push.ts")),
  group("/api/stream", () => import("./stream/stream.ts"), () => import("./stream/ticket.ts")),
  group(
    "/api/maintenance",
    () => import("./maintenance/mode.ts"),
    () => import("./maintenance/windows.ts"),
  ),
  group(
    "/api/backup",
    () => import("./backup/download.ts"),
    () => import("./backup/snapshots.ts"),
    () => import("./backup/targets.ts"),
    () => import("./backup/target_jobs.ts"),
  ),
  group("/api/audit", () => import("./audit.ts")),
  group("/api/edition", () => import("./edition.ts")),
  group(
    ["/api/containers", "/api/metrics", "/metrics"],
    () => import("./containers/containers.ts"),
    () => import("./containers/signals.ts"),
    () => import("./containers/settings.ts"),
    () => import("./containers/description.ts"),
    () => import("./metrics.ts"),
    () => import("./containers/logs.ts"),
    () => import("./containers/log_streams.ts"),
    () => import("./containers/exec.ts"),
    () => import("./containers/terminal.ts"),
    () => import("./updates/container_update.ts"),
  ),
  group("/api/icons", () => import("./icons.ts")),
  group(
    ["/api/stacks", "/api/compose"],
    () => import("./stacks/stacks.ts"),
    () => import("./updates/stack_update.ts"),
    () => import("./stacks/validation.ts"),
    () => import("./stacks/sources.ts"),
    () => import("./stacks/generate.ts"),
    () => import("./stacks/plan.ts"),
    () => import("./stacks/deploys.ts"),
    () => import("./stacks/log_streams.ts"),
  ),
  group("/api/takeover", () => import("./takeover.ts")),
  group("/api/logs", () => import("./logs.ts")),
  group("/api/images", () => import("./images.ts")),
  group(
    "/api/updates",
    () => import("./updates/updates.ts"),
    () => import("./updates/check.ts"),
    () => import("./updates/settings.ts"),
    () => import("./updates/blocked.ts"),
  ),
  group("/api/registries", () => import("./registries.ts")),
  group("/api/jobs", () => import("./jobs.ts")),
  group("/api/networks", () => import("./networks.ts")),
  group("/api/volumes", () => import("./volumes.ts")),
  group("/api/alerts", () => import("./alerts.ts")),
  group("/api/silences", () => import("./silences.ts")),
  group("/api/schedules", () => import("./schedules.ts")),
  group("/api/notifications", () => import("./notifications.ts")),
  group("/api/events", () => import("./events.ts")),
  group("/api/webhooks", () => import("./webhooks.ts")),
  group("/api/integrations", () => import("./integrations.ts")),
  group("/openapi.json", () => import("./api_document.ts")),
  group(["/", "/docs"], () => import("./dashboard/endpoints.ts")),
];
