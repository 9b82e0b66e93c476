/**
 * Tags of the API document: what operations belong together, in the order in which they are shown.
 *
 * @module
 */

import type { Edition } from "../../services/license/edition.ts";

interface Tag {
  name: string;
  edition: Edition;
  /** First words of the paths, below `/api` or the edition's prefix. */
  groups: readonly string[];
  description: string;
}

export const TAGS: readonly Tag[] = [
  {
    name: "Containers",
    edition: "ce",
    groups: ["containers", "logs"],
    description: "Containers of the host: state, actions, logs, processes and commands.",
  },
  {
    name: "Stacks",
    edition: "ce",
    groups: ["stacks", "compose"],
    description: "Compose projects and Swarm stacks.",
  },
  { name: "Images", edition: "ce", groups: ["images"], description: "Images of the host." },
  {
    name: "Registries",
    edition: "ce",
    groups: ["registries"],
    description: "Image registries and their credentials.",
  },
  {
    name: "Jobs",
    edition: "ce",
    groups: ["jobs"],
    description: "Work that takes longer than a request, with its steps and progress.",
  },
  { name: "Volumes", edition: "ce", groups: ["volumes"], description: "Volumes of the host." },
  { name: "Networks", edition: "ce", groups: ["networks"], description: "Networks of the host." },
  {
    name: "System",
    edition: "ce",
    groups: ["overview", "system", "maintenance", "backup"],
    description: "The host and its engine, disk usage, pruning, maintenance mode and backups.",
  },
  {
    name: "Metrics",
    edition: "ce",
    groups: ["metrics"],
    description: "History of the host's metrics, and an endpoint for Prometheus.",
  },
  {
    name: "Checks",
    edition: "ce",
    groups: ["endpoints", "ssl"],
    description: "Checks of configured HTTP endpoints and TLS certificates.",
  },
  {
    name: "Events",
    edition: "ce",
    groups: ["stream"],
    description: "Metrics, containers, alerts and events as server-sent events.",
  },
  {
    name: "Alerts",
    edition: "ce",
    groups: ["alerts", "silences"],
    description: "Rules on the host, its containers and the service, their alerts, and silences.",
  },
  {
    name: "Updates",
    edition: "ce",
    groups: ["updates"],
    description: "Newer images of the containers.",
  },
  {
    name: "Schedules",
    edition: "ce",
    groups: ["schedules"],
    description: "Container actions at fixed times, and their results.",
  },
  {
    name: "Webhooks",
    edition: "ce",
    groups: ["webhooks"],
    description: "Signed HTTP notifications of events.",
  },
  {
    name: "Notifications",
    edition: "ce",
    groups: ["notifications"],
    description: "Channels that tell people what happened, and what was sent to them.",
  },
  {
    name: "Push",
    edition: "ce",
    groups: ["push"],
    description: "Devices that receive push notifications.",
  },
  {
    name: "Integrations",
    edition: "ce",
    groups: ["integrations"],
    description: "Other systems that are polled for data.",
  },
  { name: "Audit", edition: "ce", groups: ["audit"], description: "Record of all changes." },
  {
    name: "Authentication",
    edition: "ce",
    groups: ["auth"],
    description: "Login, tokens and the current user.",
  },
  {
    name: "Account",
    edition: "ce",
    groups: ["account"],
    description: "Your own account, password and sessions.",
  },
  {
    name: "API tokens",
    edition: "ce",
    groups: ["tokens"],
    description: "Tokens for scripts and other programs.",
  },
  {
    name: "Users",
    edition: "ce",
    groups: ["users", "sessions"],
    description: "Accounts of users mode, and where they are signed in.",
  },
  {
    name: "Edition",
    edition: "ce",
    groups: ["edition"],
    description: "The edition in force, its license, limits and trial.",
  },
  {
    name: "Health",
    edition: "ce",
    groups: ["livez", "readyz", "health"],
    description: "Probes of the service itself.",
  },
  {
    name: "Documentation",
    edition: "ce",
    groups: ["", "openapi.json", "docs"],
    description: "This document, and a page to read and try it.",
  },
  {
    name: "Incidents",
    edition: "pro",
    groups: ["incidents"],
    description: "Incidents with their status and timeline.",
  },
  {
    name: "Uptime",
    edition: "pro",
    groups: ["uptime"],
    description: "Monitors, their checks and outages.",
  },
  {
    name: "SLAs",
    edition: "pro",
    groups: ["sla"],
    description: "Uptime targets, error budgets and breaches.",
  },
  {
    name: "Remediation",
    edition: "pro",
    groups: ["remediation"],
    description: "Rules that act on containers automatically.",
  },
  {
    name: "Status pages",
    edition: "pro",
    groups: ["status-pages", "status"],
    description: "Public status pages with components, incidents and subscribers.",
  },
  {
    name: "Chat",
    edition: "pro",
    groups: ["chatops"],
    description: "Chat channels that receive events.",
  },
  {
    name: "Single sign-on",
    edition: "enterprise",
    groups: ["sso"],
    description: "SAML identity providers, logins and sessions.",
  },
  {
    name: "Branding",
    edition: "enterprise",
    groups: ["branding"],
    description: "Name, logo and colors of the service.",
  },
  {
    name: "Custom roles",
    edition: "enterprise",
    groups: ["roles"],
    description: "Permissions beyond the built-in roles.",
  },
  {
    name: "IP allowlist",
    edition: "enterprise",
    groups: ["ip-allowlist"],
    description: "Addresses that may use the API.",
  },
  {
    name: "mTLS",
    edition: "enterprise",
    groups: ["mtls"],
    description: "Client certificates of agents, verified for a reverse proxy.",
  },
  {
    name: "Encryption",
    edition: "enterprise",
    groups: ["encryption"],
    description: "Records about the encryption of the database.",
  },
  {
    name: "Compliance log",
    edition: "enterprise",
    groups: ["compliance"],
    description: "Tamper-evident log of all writes, logins and denials.",
  },
];

/**
 * The name of an operation's tag.
 *
 * @throws {Error} No tag has the path's group.
 */
export function tagOf(path: string, edition: Edition): string {
  const group = groupOf(path);
  const tag = TAGS.find((each) => each.edition === edition && each.groups.includes(group));
  if (!tag) throw new Error(`No tag has the group ${group} of ${path}`);
  return tag.name;
}

/** `/api/ext/service-pro/sla/...` is "sla", `/auth/users/...` is "users". */
function groupOf(path: string): string {
  const words = path.replace(/^\/api(\/ext\/[^/]+)?/, "").split("/");
  return words[1] === "auth" && words[2] === "users" ? "users" : words[1]!;
}
