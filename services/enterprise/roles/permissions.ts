/** Permissions as custom roles grant them: grouped by resource, with `*` for all. @module */

import {
  actionsOf,
  ANY,
  type Permission,
  permissionName,
  RESOURCES,
} from "../../access/permissions.ts";

/** A resource with some of its actions: the form of permissions in requests and responses. */
export interface PermissionGroup {
  resource: string;
  actions: string[];
}

/**
 * Resources that `*` does not include: files are any bytes of any container, volume and stack, also the
 * passwords in them, which who grants "reading everything" does not think of.
 */
const NAMED_ONLY: readonly string[] = ["files"];

/** Whether the permission `have` includes the permission `need`. */
export function includesPermission(have: Permission, need: Permission): boolean {
  const isAny = have.resource === ANY && !NAMED_ONLY.includes(need.resource);
  return (isAny || have.resource === need.resource) &&
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
