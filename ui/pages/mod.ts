/** Page of each address. A page's module is loaded when it is first opened. @module */

import type { ComponentType } from "preact";
import type { UserRole } from "../api/types.ts";
import type { IconName } from "../components/icon.tsx";
import { isOfServer, type Path } from "../paths.ts";
import type { EditionName } from "../state/edition.ts";
import { HOST } from "../state/root.ts";
import { hasRole, seesServer } from "../state/session.ts";

/** Properties of a page: the parameters of its address. */
export type PageProps = Record<string, string>;

export interface PageInfo {
  /** The heading, and the link in the navigation. */
  title: string;
  /** Group of the navigation that lists it; without one, it is not listed. */
  group?: Group;
  icon?: IconName;
  /** It opens without a session, too. */
  isPublic?: true;
  /** The lowest role that may open it; viewer unless given. */
  role?: UserRole;
  /** Permission that suffices without that role. */
  permission?: string;
  /** It also opens for users who see nothing but hosts of the fleet. */
  isOfFleet?: true;
  /** The edition that it needs; `descriptions.ts` says what it is good for. */
  edition?: EditionName;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

export const GROUPS = ["Host", "Automation", "Availability", "Access", "Administration"] as const;
export type Group = (typeof GROUPS)[number];

const container = () => import("./containers/detail.tsx");
const stack = () => import("./stacks/detail.tsx");
const statusPage = () => import("./pro/status_pages/detail.tsx");

const backups = () => import("./backups/backups.tsx");

const BACKUPS = { title: "Backups", role: "viewer", permission: "backup:read" } as const;
const UPTIME = { title: "Uptime", edition: "pro" } as const;
const INCIDENTS = { title: "Incidents", edition: "pro" } as const;
const STATUS_PAGES = { title: "Status pages", edition: "pro" } as const;
const SLA = { title: "SLA", edition: "pro" } as const;

export const PAGES: Record<Path, PageInfo> = {
  "/": {
    title: "Overview",
    group: "Host",
    icon: "gauge",
    isOfFleet: true,
    load: () => import("./overview/overview.tsx"),
  },
  "/containers": {
    title: "Containers",
    group: "Host",
    icon: "box",
    load: () => import("./containers/list.tsx"),
  },
  "/containers/:id": { title: "Container", load: container },
  "/containers/:id/:tab(stats|logs|terminal|exec|processes|environment|mounts|files|networks|changes|events|inspect)":
    {
      title: "Container",
      load: container,
    },
  "/logs": {
    title: "Logs",
    group: "Host",
    icon: "terminal",
    isOfFleet: true,
    load: () => import("./logs/logs.tsx"),
  },
  "/stacks": {
    title: "Stacks",
    group: "Host",
    icon: "stack",
    load: () => import("./stacks/list.tsx"),
  },
  "/stacks/new": {
    title: "New stack",
    role: "admin",
    permission: "stacks:write",
    load: () => import("./stacks/new.tsx"),
  },
  "/stacks/:id": { title: "Stack", load: stack },
  "/stacks/:id/:tab(source|files|logs|versions)": { title: "Stack", load: stack },
  "/takeover": {
    title: "Take over",
    group: "Host",
    icon: "target",
    role: "admin",
    permission: "stacks:write",
    load: () => import("./takeover/takeover.tsx"),
  },
  "/git": {
    title: "Git",
    group: "Host",
    icon: "code",
    role: "admin",
    permission: "git:read",
    load: () => import("./git/repositories.tsx"),
  },
  "/images": {
    title: "Images",
    group: "Host",
    icon: "layers",
    load: () => import("./images/images.tsx"),
  },
  "/updates": {
    title: "Updates",
    group: "Host",
    icon: "down",
    load: () => import("./updates/updates.tsx"),
  },
  "/registries": {
    title: "Registries",
    group: "Host",
    icon: "key",
    role: "admin",
    permission: "registries:read",
    load: () => import("./registries/registries.tsx"),
  },
  "/networks": {
    title: "Networks",
    group: "Host",
    icon: "network",
    load: () => import("./networks.tsx"),
  },
  "/volumes": {
    title: "Volumes",
    group: "Host",
    icon: "disk",
    load: () => import("./volumes.tsx"),
  },
  "/volumes/:id": { title: "Volume", load: () => import("./volume.tsx") },
  "/host": { title: "Host", group: "Host", icon: "server", load: () => import("./host/host.tsx") },
  "/hosts": {
    title: "Hosts",
    group: "Host",
    icon: "network",
    isOfFleet: true,
    load: () => import("./hosts/hosts.tsx"),
  },
  "/swarm": {
    title: "Swarm",
    group: "Host",
    icon: "users",
    permission: "swarm:read",
    load: () => import("./swarm/swarm.tsx"),
  },
  "/alerts": {
    title: "Alerts",
    group: "Availability",
    icon: "bell",
    load: () => import("./alerts/rules.tsx"),
  },
  "/probes": {
    title: "Probes",
    group: "Availability",
    icon: "check",
    load: () => import("./probes.tsx"),
  },
  "/notifications": {
    title: "Notifications",
    group: "Automation",
    icon: "inbox",
    role: "admin",
    permission: "notifications:read",
    load: () => import("./notifications/notifications.tsx"),
  },
  "/webhooks": {
    title: "Webhooks",
    group: "Automation",
    icon: "send",
    role: "admin",
    permission: "webhooks:read",
    load: () => import("./webhooks/webhooks.tsx"),
  },
  "/schedules": {
    title: "Schedules",
    group: "Automation",
    icon: "clock",
    load: () => import("./schedules/schedules.tsx"),
  },
  "/integrations": {
    title: "Integrations",
    group: "Automation",
    icon: "plug",
    load: () => import("./integrations/integrations.tsx"),
  },
  "/uptime": {
    ...UPTIME,
    group: "Availability",
    icon: "pulse",
    load: () => import("./pro/uptime/list.tsx"),
  },
  "/uptime/:id": { ...UPTIME, load: () => import("./pro/uptime/detail.tsx") },
  "/incidents": {
    ...INCIDENTS,
    group: "Availability",
    icon: "alert",
    load: () => import("./pro/incidents/list.tsx"),
  },
  "/incidents/:id": { ...INCIDENTS, load: () => import("./pro/incidents/detail.tsx") },
  "/status-pages": {
    ...STATUS_PAGES,
    group: "Availability",
    icon: "globe",
    load: () => import("./pro/status_pages/list.tsx"),
  },
  "/status-pages/:id": { ...STATUS_PAGES, load: statusPage },
  "/status-pages/:id/:tab(incidents|maintenance|subscribers)": {
    ...STATUS_PAGES,
    load: statusPage,
  },
  "/sla": {
    ...SLA,
    group: "Availability",
    icon: "target",
    load: () => import("./pro/sla/list.tsx"),
  },
  "/sla/:id": { ...SLA, load: () => import("./pro/sla/detail.tsx") },
  "/remediation": {
    title: "Remediation",
    group: "Automation",
    icon: "wrench",
    edition: "pro",
    load: () => import("./pro/remediation/rules.tsx"),
  },
  "/chat": {
    title: "Chat",
    group: "Automation",
    icon: "chat",
    edition: "pro",
    load: () => import("./pro/chat/channels.tsx"),
  },
  "/users": {
    title: "Users",
    group: "Access",
    icon: "users",
    role: "admin",
    permission: "users:read",
    load: () => import("./users/users.tsx"),
  },
  "/sessions": {
    title: "Sessions",
    group: "Access",
    icon: "screen",
    role: "admin",
    permission: "users:read",
    load: () => import("./sessions/sessions.tsx"),
  },
  "/tokens": {
    title: "API tokens",
    group: "Access",
    icon: "key",
    isOfFleet: true,
    load: () => import("./tokens/tokens.tsx"),
  },
  "/audit": {
    title: "Audit log",
    group: "Administration",
    icon: "log",
    role: "admin",
    permission: "settings:read",
    load: () => import("./audit/audit.tsx"),
  },
  "/license": {
    title: "License",
    group: "Administration",
    icon: "badge",
    load: () => import("./license.tsx"),
  },
  "/settings": {
    title: "Settings",
    group: "Administration",
    icon: "sliders",
    role: "admin",
    permission: "settings:read",
    load: () => import("./settings.tsx"),
  },
  "/backups": { ...BACKUPS, group: "Administration", icon: "disk", load: backups },
  "/backups/:tab(snapshots|targets|server)": { ...BACKUPS, load: backups },
  "/backups/snapshots/:id": {
    ...BACKUPS,
    title: "Snapshot",
    load: () => import("./backups/snapshot.tsx"),
  },
  "/docs": {
    title: "API",
    group: "Administration",
    icon: "code",
    isPublic: true,
    isOfFleet: true,
    load: () => import("./api/reference.tsx"),
  },
  "/about": {
    title: "About",
    group: "Administration",
    icon: "info",
    isOfFleet: true,
    load: () => import("./about.tsx"),
  },
  "/sso": {
    title: "Single sign-on",
    group: "Access",
    icon: "user",
    role: "admin",
    permission: "sso:read",
    load: () => import("./sso/sso.tsx"),
  },
  "/roles": {
    title: "Roles",
    group: "Access",
    icon: "layers",
    role: "admin",
    permission: "custom_roles:read",
    edition: "enterprise",
    load: () => import("./enterprise/roles/roles.tsx"),
  },
  "/ip-allowlist": {
    title: "IP allowlist",
    group: "Access",
    icon: "network",
    role: "admin",
    permission: "ip_allowlist:read",
    edition: "enterprise",
    load: () => import("./enterprise/ip_allowlist/ip_allowlist.tsx"),
  },
  "/mtls": {
    title: "mTLS",
    group: "Access",
    icon: "certificate",
    role: "admin",
    permission: "mtls:read",
    edition: "enterprise",
    load: () => import("./enterprise/mtls/mtls.tsx"),
  },
  "/branding": {
    title: "Branding",
    group: "Administration",
    icon: "brush",
    edition: "enterprise",
    load: () => import("./enterprise/branding/branding.tsx"),
  },
  "/encryption": {
    title: "Encryption",
    group: "Administration",
    icon: "lock",
    role: "admin",
    permission: "encryption:read",
    edition: "enterprise",
    load: () => import("./enterprise/encryption/encryption.tsx"),
  },
  "/compliance": {
    title: "Compliance",
    group: "Administration",
    icon: "shield",
    role: "admin",
    permission: "compliance:read",
    edition: "enterprise",
    load: () => import("./enterprise/compliance/compliance.tsx"),
  },
  "/account": { title: "Account", isOfFleet: true, load: () => import("./account.tsx") },
  "/sign-in": { title: "Sign in", isPublic: true, load: () => import("./sign_in.tsx") },
  "/setup": { title: "Set up", isPublic: true, load: () => import("./setup.tsx") },
};

/** Path and description of each page that the navigation lists. */
export const LISTED = Object.entries(PAGES).filter(([path, { group }]) =>
  group && (HOST === undefined || !isOfServer(path))
) as [Path, PageInfo][];

/** Whether the user may open a page, and the page has something for them. */
export const mayOpen = ({ role, permission, isOfFleet }: PageInfo): boolean =>
  (!role || hasRole(role, permission)) && (isOfFleet || seesServer());

const loaded = new Map<Path, ComponentType<PageProps>>();

/** The component of a page; `undefined` until it is loaded. */
export const componentOf = (path: Path) => loaded.get(path);

export async function loadPage(path: Path): Promise<void> {
  if (!loaded.has(path)) loaded.set(path, (await PAGES[path].load()).default);
}
