/**
 * Tags of the API document: what operations belong together, in the order in which they are shown.
 *
 * @module
 */

import type { Edition } from "../../../services/edition.ts";

interface Tag {
  /** First words of the paths, below `/api` or the edition's prefix. */
  groups: readonly string[];
  description: string;
}

/** By edition and name. */
export const TAGS: Record<Edition, Record<string, Tag>> = {
  ce: {
    Containers: {
      groups: ["containers", "icons", "logs"],
      description: "Containers of the host: state, actions, logs, processes and commands.",
    },
    Stacks: {
      groups: ["stacks", "compose", "takeover"],
      description: "Compose projects and Swarm stacks.",
    },
    Git: {
      groups: ["git", "hooks"],
      description: "Git repositories whose commits become versions of stacks.",
    },
    Images: { groups: ["images"], description: "Images of the host." },
    Registries: { groups: ["registries"], description: "Image registries and their credentials." },
    Jobs: {
      groups: ["jobs"],
      description: "Work that takes longer than a request, with its steps and progress.",
    },
    Volumes: { groups: ["volumes"], description: "Volumes of the host." },
    Networks: { groups: ["networks"], description: "Networks of the host." },
    Swarm: {
      groups: ["swarm"],
      description: "Nodes, services, secrets and configs of a Docker Swarm.",
    },
    System: {
      groups: ["overview", "system", "maintenance", "backup"],
      description: "The host and its engine, disk usage, pruning, maintenance mode and backups.",
    },
    Metrics: {
      groups: ["metrics"],
      description: "History of the host's metrics, and an endpoint for Prometheus.",
    },
    Checks: {
      groups: ["endpoints", "ssl"],
      description: "Checks of configured HTTP endpoints and TLS certificates.",
    },
    Events: {
      groups: ["stream", "events"],
      description:
        "The kinds of events, and metrics, containers, alerts and events as server-sent events.",
    },
    Alerts: {
      groups: ["alerts", "silences"],
      description: "Rules on the host, its containers and the service, their alerts, and silences.",
    },
    Updates: { groups: ["updates"], description: "Newer images of the containers." },
    Schedules: {
      groups: ["schedules"],
      description: "Container actions at fixed times, and their results.",
    },
    Webhooks: { groups: ["webhooks"], description: "Signed HTTP notifications of events." },
    Notifications: {
      groups: ["notifications"],
      description: "Channels that tell people what happened, and what was sent to them.",
    },
    Push: { groups: ["push"], description: "Devices that receive push notifications." },
    Integrations: {
      groups: ["integrations"],
      description: "Other systems that are polled for data.",
    },
    Audit: { groups: ["audit"], description: "Record of all changes." },
    Authentication: {
      groups: ["auth", "settings", "setup"],
      description: "Setup, login, tokens and the current user.",
    },
    "Identity providers": {
      groups: ["identity"],
      description: "OpenID Connect providers that sign users in.",
    },
    Account: { groups: ["account"], description: "Your own account, password and sessions." },
    "API tokens": { groups: ["tokens"], description: "Tokens for scripts and other programs." },
    Users: {
      groups: ["users", "sessions"],
      description: "Accounts of users mode, and where they are signed in.",
    },
    Edition: {
      groups: ["edition"],
      description: "The edition in force, its license, limits and trial.",
    },
    Health: { groups: ["livez", "readyz", "health"], description: "Probes of the service itself." },
    Fleet: {
      groups: ["boxes", "feed", "fleet"],
      description: "Other hosts that are managed from here, and the invites with which they join.",
    },
    Documentation: {
      groups: ["", "openapi.json", "docs"],
      description: "This document, and a page to read and try it.",
    },
  },
  pro: {
    Incidents: { groups: ["incidents"], description: "Incidents with their status and timeline." },
    Uptime: { groups: ["uptime"], description: "Monitors, their checks and outages." },
    SLAs: { groups: ["sla"], description: "Uptime targets, error budgets and breaches." },
    Remediation: {
      groups: ["remediation"],
      description: "Rules that act on containers automatically.",
    },
    "Status pages": {
      groups: ["status-pages", "status"],
      description: "Public status pages with components, incidents and subscribers.",
    },
    Chat: { groups: ["chatops"], description: "Chat channels that receive events." },
  },
  enterprise: {
    "Single sign-on": {
      groups: ["sso"],
      description: "SAML identity providers, logins and sessions.",
    },
    Branding: { groups: ["branding"], description: "Name, logo and colors of the service." },
    "Custom roles": { groups: ["roles"], description: "Permissions beyond the built-in roles." },
    "IP allowlist": { groups: ["ip-allowlist"], description: "Addresses that may use the API." },
    mTLS: {
      groups: ["mtls"],
      description: "Client certificates of agents, verified for a reverse proxy.",
    },
    Encryption: {
      groups: ["encryption"],
      description: "Records about the encryption of the database.",
    },
    "Compliance log": {
      groups: ["compliance"],
      description: "Tamper-evident log of all writes, logins and denials.",
    },
  },
};

/**
 * The name of an operation's tag.
 *
 * @throws {Error} No tag has the path's group.
 */
export function tagOf(path: string, edition: Edition): string {
  const group = groupOf(path);
  const tags = Object.entries(TAGS[edition]);
  const tag = tags.find(([, { groups }]) => groups.includes(group));
  if (!tag) throw new Error(`No tag has the group ${group} of ${path}`);
  return tag[0];
}

/** `/api/ext/service-pro/sla/...` is "sla", `/auth/users/...` is "users". */
function groupOf(path: string): string {
  const words = path.replace(/^\/api(\/ext\/[^/]+)?/, "").split("/");
  return words[1] === "auth" && words[2] === "users" ? "users" : words[1]!;
}
