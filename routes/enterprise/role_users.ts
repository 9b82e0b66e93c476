/**
 * /roles/:id/users, /roles/users/:userId/check: assignments of custom roles, and the resulting
 * permissions.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { checkPermission } from "../../services/enterprise/roles/check.ts";
import {
  assignRole,
  listRoleUsers,
  unassignRole,
} from "../../services/enterprise/roles/assignments.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, doneWith, paged, pagingQuery, PathText, Timestamp } from "../contract/shapes.ts";
import { Action, BEYOND, Resource, UNKNOWN } from "./roles.ts";

const UserId = z.string().min(1).max(255);
const UserParams = z.object({ userId: UserId });

const Assignment = {
  user_id: z.string(),
  assigned_at: Timestamp,
  assigned_by: z.string().meta({ description: "Id of the user who assigned it" }),
};

const Check = z.object({
  user_id: z.string(),
  roles: z.array(z.string()).meta({ description: "Names of the custom roles" }),
  permissions: z.record(z.string(), z.array(z.string())).meta({
    description: "Actions that the custom roles grant, by resource",
  }),
  has_permission: z.boolean().nullable().meta({
    description: "Whether the user has this permission; null unless `resource` and `action` are " +
      "given",
  }),
}).meta({
  id: "PermissionCheck",
  example: {
    user_id: "7b6f1c52-9f0e-4c55-9a0d-8f3f1f6f1a11",
    roles: ["Night shift"],
    permissions: { containers: ["read", "restart", "logs"] },
    has_permission: true,
  },
});

const READ = { role: "admin", permission: "custom_roles:read" } as const;
const WRITE = { role: "admin", permission: "custom_roles:write" } as const;

export const roleUserEndpoints = (deps: Deps) => [
  endpoint("GET /roles/:id/users", {
    operationId: "listRoleUsers",
    summary: "List users with a custom role",
    description: "Newest assignment first.",
    ...READ,
    query: z.object(pagingQuery(100)),
    returns: paged({
      users: z.array(z.object({
        ...Assignment,
        email: z.string().nullable().meta({ description: "null for `key`, which has no account" }),
      })),
    }).meta({ id: "RoleUserPage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => listRoleUsers(deps, params.id, query)),

  endpoint("POST /roles/:id/users", {
    operationId: "assignRole",
    loginOnly: true,
    summary: "Assign a custom role",
    description: "Applies from the user's next request. Repeating the request has no effect. You " +
      "cannot assign a role with a permission that you do not have.",
    ...WRITE,
    body: z.object({ user_id: UserId })
      .meta({ id: "RoleAssignment", example: { user_id: "7b6f1c52-9f0e-4c55-9a0d-8f3f1f6f1a11" } }),
    returns: doneWith({
      ...Assignment,
      role_id: z.string(),
      changed: z.boolean().meta({ description: "false if the user already had the role" }),
    }).meta({ id: "RoleAssignmentResult" }),
    failures: { 403: BEYOND, 404: "The role or the user does not exist" },
  }, ({ params, body, caller, note }) => {
    note.targets = [params.id, body.user_id];
    note.target = note.targets.join(" ");
    return assignRole(deps, caller, params.id, body.user_id);
  }),

  endpoint("DELETE /roles/:id/users/:userId", {
    operationId: "unassignRole",
    loginOnly: true,
    summary: "Remove a role from a user",
    description: "Applies from the user's next request.",
    ...WRITE,
    params: z.object({ id: PathText, userId: UserId }),
    returns: Done,
    failures: { 403: BEYOND, 404: "The role does not exist, or the user does not have it" },
  }, ({ params, caller }) => unassignRole(deps, caller, params.id, params.userId)),

  endpoint("GET /roles/users/:userId/check", {
    operationId: "checkUserPermissions",
    summary: "Check a user's permissions",
    description: "Lists the permissions that the user's custom roles grant. With `resource` and " +
      "`action`, the response also says whether the user has that permission. In key mode, " +
      "the only user is `key`, an admin.",
    ...READ,
    params: UserParams,
    query: z.object({ resource: Resource.optional(), action: Action.optional() }),
    returns: Check,
    failures: { 404: "The user does not exist" },
  }, ({ params, query }) => checkPermission(deps, params.userId, query)),
];
