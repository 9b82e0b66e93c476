/**
 * The catalogue of permissions: what custom roles can grant, and which base role has it anyway.
 *
 * @module
 */

import type { Permission } from "../../db/enterprise/roles.ts";
import type { UserRole } from "../caller.ts";

export type { Permission };

/** Stands for every resource, or for every action, also for those to come. */
export const ANY = "*";

/** Resource and actions, as people write and read them. */
export interface PermissionGroup {
  resource: string;
  actions: string[];
}

const READ_BY_ALL = { read: "viewer", write: "admin" } as const;
const READ_BY_ADMINS = { read: "admin", write: "admin" } as const;

/**
 * Every resource with its actions, and beside each the least base role that may do all of it:
 * `incidents:write` is `admin`, for an operator can open an incident but not delete one.
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

/** Every permission by itself, in the order of the catalogue. */
export const PERMISSIONS: readonly Permission[] = RESOURCES.flatMap((resource) =>
  actionsOf(resource).map((action) => ({ resource, action }))
);

/** The actions that a resource has; of `*` those of any. None for one that is unknown. */
export function actionsOf(resource: string): readonly string[] {
  if (resource === ANY) return ACTIONS;
  return Object.hasOwn(CATALOGUE, resource) ? Object.keys(CATALOGUE[resource]!) : [];
}

/** The least base role that has a permission. One with a `*` grows with the catalogue: `admin`. */
export function leastRole({ resource, action }: Permission): UserRole {
  const actions = Object.hasOwn(CATALOGUE, resource) ? CATALOGUE[resource]! : {};
  return Object.hasOwn(actions, action) ? actions[action]! : "admin";
}

/** Whether a permission includes another one. */
export function includesPermission(have: Permission, need: Permission): boolean {
  return (have.resource === ANY || have.resource === need.resource) &&
    (have.action === ANY || have.action === need.action);
}

/** Pairs of resource and action, each once, as they are stored. */
export function ungroup(groups: readonly PermissionGroup[]): Permission[] {
  const pairs = groups.flatMap(({ resource, actions }) =>
    actions.map((action) => ({ resource, action }))
  );
  return [...new Map(pairs.map((pair) => [permissionName(pair), pair])).values()];
}

/** What is stored, by resource; both in the order of the catalogue, `*` first. */
export function group(permissions: readonly Permission[]): PermissionGroup[] {
  return [ANY, ...RESOURCES].flatMap((resource) => {
    const actions = [ANY, ...actionsOf(resource)].filter((action) =>
      permissions.some((each) => each.resource === resource && each.action === action)
    );
    return actions.length === 0 ? [] : [{ resource, actions }];
  });
}

/** As endpoints declare it, e.g. `containers:start`. */
export const permissionName = ({ resource, action }: Permission): string => `${resource}:${action}`;

/** What an endpoint declares. */
export function parsePermission(name: string): Permission {
  const [resource = "", action = ""] = name.split(":");
  return { resource, action };
}
