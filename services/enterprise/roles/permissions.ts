/**
 * The catalog of permissions that custom roles can grant, and the base role that includes each.
 *
 * @module
 */

import type { Permission } from "../../../db/enterprise/roles.ts";
import type { UserRole } from "../../auth/caller.ts";

export type { Permission };

/** Every resource or every action, including those of later versions. */
export const ANY = "*";

/** A resource with some of its actions: the form of permissions in requests and responses. */
export interface PermissionGroup {
  resource: string;
  actions: string[];
}

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
    rebuild: "admin",
    exec: "admin",
    logs: "viewer",
  },
  stacks: { read: "viewer", start: "admin", stop: "admin", restart: "admin" },
  images: { read: "viewer", delete: "admin", prune: "admin" },
  volumes: { read: "viewer", delete: "admin", prune: "admin" },
  networks: { read: "viewer" },
  system: { read: "viewer", prune: "admin" },
  alerts: READ_BY_ALL,
  webhooks: READ_BY_ADMINS,
  schedules: READ_BY_ALL,
  integrations: READ_BY_ALL,
  incidents: READ_BY_ALL,
  remediation: READ_BY_ALL,
  status_pages: READ_BY_ALL,
  uptime: READ_BY_ALL,
  chatops: READ_BY_ALL,
  sla: READ_BY_ALL,
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

/** Whether the permission `have` includes the permission `need`. */
export function includesPermission(have: Permission, need: Permission): boolean {
  return (have.resource === ANY || have.resource === need.resource) &&
    (have.action === ANY || have.action === need.action);
}

/** Expands groups to distinct pairs of resource and action. */
export function ungroupPermissions(groups: readonly PermissionGroup[]): Permission[] {
  const pairs = groups.flatMap(({ resource, actions }) =>
    actions.map((action) => ({ resource, action }))
  );
  return [...new Map(pairs.map((pair) => [permissionName(pair), pair])).values()];
}

/** Groups pairs by resource. Resources and actions are in the order of the catalog, `*` first. */
export function groupPermissions(permissions: readonly Permission[]): PermissionGroup[] {
  return [ANY, ...RESOURCES].flatMap((resource) => {
    const actions = [ANY, ...actionsOf(resource)].filter((action) =>
      permissions.some((each) => each.resource === resource && each.action === action)
    );
    return actions.length === 0 ? [] : [{ resource, actions }];
  });
}

/** A permission as endpoints declare it, e.g. `containers:start`. */
export const permissionName = ({ resource, action }: Permission): string => `${resource}:${action}`;

/** The inverse of {@linkcode permissionName}. */
export function parsePermission(name: string): Permission {
  const [resource = "", action = ""] = name.split(":");
  return { resource, action };
}
