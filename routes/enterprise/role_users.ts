/**
 * /roles/:id/users, /roles/users/:userId/check: who has a custom role, and what users may do by
 * theirs.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { checkPermission } from "../../services/enterprise/permission_check.ts";
import {
  assignRole,
  listRoleUsers,
  unassignRole,
} from "../../services/enterprise/role_assignments.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";
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
    description: "What the custom roles grant: the actions by resource",
  }),
  has_permission: z.boolean().nullable().meta({
    description: "Whether the user may do this, by role or by custom roles; null unless " +
      "`resource` and `action` are given",
  }),
}).meta({
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
  endpoint({
    method: "get",
    path: "/roles/:id/users",
    summary: "List the users with a custom role",
    description: "The last one who got it comes first.",
    ...READ,
    params: IdParams,
    query: z.object(pagingQuery(100)),
    returns: paged({
      users: z.array(z.object({
        ...Assignment,
        email: z.string().nullable().meta({ description: "null for `key`, who has no account" }),
      })),
    }),
    failures: UNKNOWN,
  }, ({ params, query }) => listRoleUsers(deps, params.id, query)),

  endpoint({
    method: "post",
    path: "/roles/:id/users",
    summary: "Assign a custom role to a user",
    description: "It holds for the user's very next request. Assigning it again changes nothing. " +
      "Nobody can assign a role with a permission that they do not have themselves.",
    ...WRITE,
    params: IdParams,
    body: z.object({ user_id: UserId })
      .meta({ example: { user_id: "7b6f1c52-9f0e-4c55-9a0d-8f3f1f6f1a11" } }),
    returns: Done.extend({
      ...Assignment,
      role_id: z.string(),
      changed: z.boolean().meta({ description: "Whether the user did not have it before" }),
    }),
    failures: { 403: BEYOND, 404: "There is no such role, or no such user" },
  }, ({ params, body, caller, note }) => {
    note.targets = [params.id, body.user_id];
    note.target = note.targets.join(" ");
    return { ...done, ...assignRole(deps, caller, params.id, body.user_id) };
  }),

  endpoint({
    method: "delete",
    path: "/roles/:id/users/:userId",
    summary: "Take a custom role from a user",
    description: "It holds for the user's very next request.",
    ...WRITE,
    params: IdParams.extend({ userId: UserId }),
    returns: Done,
    failures: { 403: BEYOND, 404: "There is no such role, or the user does not have it" },
  }, ({ params, caller }) => {
    unassignRole(deps, caller, params.id, params.userId);
    return done;
  }),

  endpoint({
    method: "get",
    path: "/roles/users/:userId/check",
    summary: "Show what a user may do by custom roles",
    description:
      "With `resource` and `action` it also tells whether the user has that permission. " +
      "In key mode there is the user `key`, an admin.",
    ...READ,
    params: UserParams,
    query: z.object({ resource: Resource.optional(), action: Action.optional() }),
    returns: Check,
    failures: { 404: "There is no such user" },
  }, ({ params, query }) => checkPermission(deps, params.userId, query)),
];
