/**
 * The catalog of permissions: those that endpoints declare, API tokens are limited to and custom roles
 * grant.
 *
 * @module
 */

import type { UserRole } from "./caller.ts";

/** An action on a resource. */
export interface Permission {
  resource: string;
  action: string;
}

/** Every resource but files, or every action, including those of later versions. */
export const ANY = "*";

const READ_BY_ALL = { read: "viewer", write: "admin" } as const;
const READ_BY_ADMINS = { read: "admin", write: "admin" } as const;

/**
 * Every resource with its actions, and the lowest base role that includes all of the action. So
 * `incidents:write` is `admin`: an operator can open an incident, but not delete one.
 */
const CATALOG: Record<string, Record<string, UserRole>> = {
  containers: {
    read: "viewer",
    start: "operator",
    stop: "operator",
    restart: "operator",
    pause: "operator",
    update: "operator",
    write: "admin",
    delete: "admin",
    rebuild: "admin",
    exec: "admin",
    logs: "viewer",
  },
  stacks: {
    read: "viewer",
    start: "admin",
    stop: "admin",
    restart: "admin",
    update: "operator",
    write: "admin",
  },
  // Sources may contain passwords.
  stack_sources: { read: "operator" },
  git: READ_BY_ADMINS,
  images: { read: "viewer", write: "admin", export: "admin", delete: "admin", prune: "admin" },
  volumes: { read: "viewer", write: "admin", delete: "admin", prune: "admin" },
  networks: READ_BY_ALL,
  swarm: READ_BY_ALL,
  swarm_secrets: READ_BY_ADMINS,
  system: { read: "viewer", prune: "admin" },
  alerts: READ_BY_ALL,
  registries: READ_BY_ADMINS,
  webhooks: READ_BY_ADMINS,
  notifications: READ_BY_ADMINS,
  schedules: READ_BY_ALL,
  integrations: READ_BY_ALL,
  backup: { read: "viewer", run: "operator", write: "admin" },
  // Files may contain passwords.
  files: READ_BY_ADMINS,
  incidents: READ_BY_ALL,
  remediation: READ_BY_ALL,
  status_pages: READ_BY_ALL,
  uptime: READ_BY_ALL,
  chatops: READ_BY_ALL,
  sla: READ_BY_ALL,
  fleet: READ_BY_ALL,
  users: READ_BY_ADMINS,
  settings: READ_BY_ADMINS,
  compliance: READ_BY_ADMINS,
  sso: READ_BY_ADMINS,
  custom_roles: READ_BY_ADMINS,
  ip_allowlist: READ_BY_ADMINS,
  mtls: READ_BY_ADMINS,
  encryption: READ_BY_ADMINS,
};

export const RESOURCES: readonly string[] = Object.keys(CATALOG);

/** Every action of any resource. */
const ACTIONS: readonly string[] = [...new Set(Object.values(CATALOG).flatMap(Object.keys))];

/** Every permission without `*`, in the order of the catalog. */
export const PERMISSIONS: readonly Permission[] = RESOURCES.flatMap((resource) =>
  actionsOf(resource).map((action) => ({ resource, action }))
);

/** The actions of a resource, without `*`. Resource `*` has all actions, an unknown one has none. */
export function actionsOf(resource: string): readonly string[] {
  if (resource === ANY) return ACTIONS;
  return Object.hasOwn(CATALOG, resource) ? Object.keys(CATALOG[resource]!) : [];
}

/** The lowest base role that includes a permission. For `*` it is `admin`. */
export function leastRole({ resource, action }: Permission): UserRole {
  const actions = Object.hasOwn(CATALOG, resource) ? CATALOG[resource]! : {};
  return Object.hasOwn(actions, action) ? actions[action]! : "admin";
}

/** A permission as endpoints declare it, e.g. `containers:start`. */
export const permissionName = ({ resource, action }: Permission): string => `${resource}:${action}`;

/** The inverse of {@linkcode permissionName}. */
export function parsePermission(name: string): Permission {
  const [resource = "", action = ""] = name.split(":");
  return { resource, action };
}
