/**
 * The catalogue of permissions: what custom roles can grant, and which base role has it anyway.
 *
 * @module
 */

import type { Permission } from "../../../db/enterprise/roles.ts";
import type { UserRole } from "../../auth/caller.ts";

export type { Permission };

/** Stands for every resource, or for every action: also for those of later versions. */
export const ANY = "*";

/** A resource with several of its actions: how permissions are written in requests and answers. */
export interface PermissionGroup {
  resource: string;
  actions: string[];
}

const READ_BY_ALL = { read: "viewer", write: "admin" } as const;
const READ_BY_ADMINS = { read: "admin", write: "admin" } as const;

/**
 * Every resource with its actions, and the least base role that may do everything that the action
 * stands for. So `incidents:write` is `admin`: an operator can open an incident, but not delete one.
 */
const CATALOGUE: Record<string, Record<string, UserRole>> = {
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

export const RESOURCES: readonly string[] = Object.keys(CATALOGUE);

/** Every action of any resource. */
const ACTIONS: readonly string[] = [...new Set(Object.values(CATALOGUE).flatMap(Object.keys))];

/** Every permission without `*`, in the order of the catalogue. */
export const PERMISSIONS: readonly Permission[] = RESOURCES.flatMap((resource) =>
  actionsOf(resource).map((action) => ({ resource, action }))
);

/** The actions of a resource, without `*`. Resource `*` has those of all; an unknown one has none. */
export function actionsOf(resource: string): readonly string[] {
  if (resource === ANY) return ACTIONS;
  return Object.hasOwn(CATALOGUE, resource) ? Object.keys(CATALOGUE[resource]!) : [];
}

/** The least base role that has a permission. For `*` it is `admin`, who may do anything. */
export function leastRole({ resource, action }: Permission): UserRole {
  const actions = Object.hasOwn(CATALOGUE, resource) ? CATALOGUE[resource]! : {};
  return Object.hasOwn(actions, action) ? actions[action]! : "admin";
}

/** Whether the permission `have` includes the permission `need`. */
export function includesPermission(have: Permission, need: Permission): boolean {
  return (have.resource === ANY || have.resource === need.resource) &&
    (have.action === ANY || have.action === need.action);
}

/** Groups as pairs of resource and action, each once. */
export function ungroupPermissions(groups: readonly PermissionGroup[]): Permission[] {
  const pairs = groups.flatMap(({ resource, actions }) =>
    actions.map((action) => ({ resource, action }))
  );
  return [...new Map(pairs.map((pair) => [permissionName(pair), pair])).values()];
}

/** Pairs grouped by resource. Resources and actions are in the order of the catalogue, `*` first. */
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

/** Reads what {@linkcode permissionName} writes. */
export function parsePermission(name: string): Permission {
  const [resource = "", action = ""] = name.split(":");
  return { resource, action };
}
