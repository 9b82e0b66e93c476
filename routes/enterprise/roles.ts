/** /roles: custom roles. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { actionsOf, ANY, RESOURCES } from "../../services/access/permissions.ts";
import {
  changeRole,
  createRole,
  getRole,
  listRoles,
  removeRole,
  ROLES_MAX,
} from "../../services/enterprise/roles/roles.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Name, paged, pagingQuery, Timestamp } from "../contract/shapes.ts";
import { HostLabels, HostPatterns } from "../scope_shapes.ts";

/** Limits of a request; there are fewer resources and actions. */
const GROUPS_MAX = 100;
const ACTIONS_MAX = 50;

export const Resource = z.enum([ANY, ...RESOURCES]);

export const Action = z.enum([ANY, ...actionsOf(ANY)]);

const Permission = z.strictObject({
  resource: Resource,
  actions: z.array(z.string().max(100)).min(1).max(ACTIONS_MAX).meta({
    items: { enum: Action.options },
    example: ["read", "restart"],
  }),
}).superRefine(({ resource, actions }, context) => {
  const known = [...actionsOf(resource), ANY];
  for (const [index, action] of actions.entries()) {
    if (known.includes(action)) continue;
    const where = resource === ANY ? "any resource" : resource;
    const message = `${quoted(action)} is not an action of ${where}; known actions: ${
      known.join(", ")
    }`;
    context.addIssue({ code: "custom", path: ["actions", index], message });
    return;
  }
}).meta({ id: "Permission" });

const fields = {
  name: Name,
  description: z.string().max(1_000),
  priority: z.int().min(-1_000_000).max(1_000_000).meta({
    description: "Order of lists, highest first; no other effect",
  }),
  permissions: z.array(Permission).max(GROUPS_MAX).meta({
    description:
      "`*` means every resource but files, or every action, including those of later versions",
  }),
  hosts: HostPatterns,
  host_labels: HostLabels,
};

const EXAMPLE = {
  name: "Night shift",
  description: "Can restart containers and stacks",
  priority: 10,
  permissions: [
    { resource: "containers", actions: ["read", "restart", "logs"] },
    { resource: "stacks", actions: ["read", "restart"] },
  ],
};

const NewRole = z.object({
  name: fields.name,
  description: fields.description.default(""),
  priority: fields.priority.default(0),
  permissions: fields.permissions.default([]),
  hosts: HostPatterns.default(null),
  host_labels: HostLabels.default(null),
}).meta({ id: "NewRole", example: EXAMPLE });

const RoleChange = z.object(fields).partial()
  .meta({
    id: "RoleChanges",
    example: { permissions: [{ resource: "containers", actions: ["read", "logs"] }] },
  });

const ListedRole = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  priority: z.int(),
  permission_count: z.int().meta({ description: "Number of resource and action pairs" }),
  user_count: z.int(),
  hosts: HostPatterns,
  host_labels: HostLabels,
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "RoleSummary" });

const Role = ListedRole.extend({
  permissions: z.array(z.object({ resource: z.string(), actions: z.array(z.string()) })),
}).meta({
  id: "Role",
  example: {
    ...EXAMPLE,
    hosts: null,
    host_labels: null,
    id: "0f8fad5b-d9cb-469f-a165-70867728950e",
    permission_count: 5,
    user_count: 2,
    created_at: "2026-01-31T12:00:00.000Z",
    updated_at: "2026-01-31T12:00:00.000Z",
  },
});

export const BEYOND =
  "The role does not allow this, or the custom role has a permission that you do not " +
  "have";
export const UNKNOWN = { 404: "The role does not exist" };

const READ = { role: "admin", permission: "custom_roles:read" } as const;
const WRITE = { role: "admin", permission: "custom_roles:write" } as const;

export const roleEndpoints = (deps: Deps) => [
  endpoint("GET /roles", {
    operationId: "listRoles",
    summary: "List custom roles",
    description: "Sorted by priority, highest first, then by name.",
    ...READ,
    query: z.object(pagingQuery(100)),
    returns: paged({ roles: z.array(ListedRole) }).meta({ id: "RolePage" }),
  }, ({ query }) => listRoles(deps, query)),

  endpoint("GET /roles/:id", {
    operationId: "getRole",
    summary: "Get a custom role",
    description: "Includes its permissions.",
    ...READ,
    returns: Role,
    failures: UNKNOWN,
  }, ({ params }) => getRole(deps, params.id)),

  endpoint("POST /roles", {
    operationId: "createRole",
    loginOnly: true,
    summary: "Create a custom role",
    description:
      "A custom role adds permissions to a user's built-in role (viewer, operator, admin). The " +
      "permission that an operation requires is its `x-permission`. You cannot create, change, " +
      "assign or delete a role with a permission that you do not have. Names are compared " +
      "case-insensitively. `hosts` and `host_labels` limit the users of the role, whatever their " +
      "built-in role is: they see hosts of the fleet that match one of their roles, and nothing of " +
      `this server itself. Only admins manage such roles. At most ${ROLES_MAX} roles.`,
    ...WRITE,
    body: NewRole,
    returns: Role,
    status: 201,
    failures: {
      403: BEYOND,
      409: `Another role has this name, or the limit of ${ROLES_MAX} roles is reached`,
    },
  }, ({ body, caller }) => createRole(deps, caller, body)),

  endpoint("PUT /roles/:id", {
    operationId: "updateRole",
    loginOnly: true,
    summary: "Update a custom role",
    description:
      "Omitted fields keep their values. `permissions` are replaced as a whole. Changes " +
      "apply from the next request of each user with the role.",
    ...WRITE,
    body: RoleChange,
    returns: Role,
    failures: { 403: BEYOND, 409: "Another role has this name", ...UNKNOWN },
  }, ({ params, body, caller }) => changeRole(deps, caller, params.id, body)),

  endpoint("DELETE /roles/:id", {
    operationId: "deleteRole",
    loginOnly: true,
    summary: "Delete a custom role",
    description: "All users with the role lose it.",
    ...WRITE,
    returns: Done,
    failures: { 403: BEYOND, ...UNKNOWN },
  }, ({ params, caller }) => removeRole(deps, caller, params.id)),
];

/** The input for an error message, truncated. */
const quoted = (input: unknown) => JSON.stringify(input)?.slice(0, 100) ?? "nothing";
