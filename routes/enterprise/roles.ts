/**
 * /roles: custom roles.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { actionsOf, ANY, RESOURCES } from "../../services/enterprise/permissions.ts";
import {
  changeRole,
  createRole,
  getRole,
  listRoles,
  removeRole,
  ROLES_MAX,
} from "../../services/enterprise/roles.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

/** What a body may hold at most; the catalogue has fewer resources and actions. */
const GROUPS_MAX = 100;
const ACTIONS_MAX = 50;

export const Resource = z.enum([ANY, ...RESOURCES], {
  error: ({ input }) => `${quoted(input)} is no resource; known are ${RESOURCES.join(", ")}, and *`,
});

const KNOWN_ACTIONS = [ANY, ...actionsOf(ANY)];

export const Action = z.enum(KNOWN_ACTIONS, {
  error: ({ input }) => `${quoted(input)} is no action; known are ${KNOWN_ACTIONS.join(", ")}`,
});

const Permission = z.object({
  resource: Resource,
  actions: z.array(z.string().max(100)).min(1).max(ACTIONS_MAX).meta({
    items: { enum: KNOWN_ACTIONS },
    example: ["read", "restart"],
  }),
}).superRefine(({ resource, actions }, context) => {
  const known = [...actionsOf(resource), ANY];
  for (const [index, action] of actions.entries()) {
    if (known.includes(action)) continue;
    const where = resource === ANY ? "any resource" : resource;
    const message = `${quoted(action)} is no action of ${where}; known are ${known.join(", ")}`;
    context.addIssue({ code: "custom", path: ["actions", index], message });
    return;
  }
});

const fields = {
  name: z.string().trim().min(1).max(100),
  description: z.string().max(1_000),
  priority: z.int().min(-1_000_000).max(1_000_000).meta({
    description: "Lists are in the order of it, highest first. It has no other effect",
  }),
  permissions: z.array(Permission).max(GROUPS_MAX).meta({
    description: "`*` stands for every resource, or for every action, also for those of later " +
      "versions",
  }),
};

const EXAMPLE = {
  name: "Night shift",
  description: "May restart what hangs",
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
}).meta({ example: EXAMPLE });

const RoleChange = z.object(fields).partial()
  .meta({ example: { permissions: [{ resource: "containers", actions: ["read", "logs"] }] } });

const ListedRole = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  priority: z.int(),
  permission_count: z.int().meta({ description: "How many pairs of resource and action it has" }),
  user_count: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const Role = ListedRole.extend({
  permissions: z.array(z.object({ resource: z.string(), actions: z.array(z.string()) })),
}).meta({
  example: {
    ...EXAMPLE,
    id: "0f8fad5b-d9cb-469f-a165-70867728950e",
    permission_count: 5,
    user_count: 2,
    created_at: "2026-01-31T12:00:00.000Z",
    updated_at: "2026-01-31T12:00:00.000Z",
  },
});

/** Also for the assignments of roles. */
export const BEYOND =
  "The caller's role does not allow this, or the custom role has a permission " +
  "that the caller lacks";
export const UNKNOWN = { 404: "There is no such role" };

const READ = { role: "admin", permission: "custom_roles:read" } as const;
const WRITE = { role: "admin", permission: "custom_roles:write" } as const;

export const roleEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/roles",
    summary: "List custom roles",
    description: "By priority, highest first, then by name.",
    ...READ,
    query: z.object(pagingQuery(100)),
    returns: paged({ roles: z.array(ListedRole) }),
  }, ({ query }) => listRoles(deps, query)),

  endpoint({
    method: "get",
    path: "/roles/:id",
    summary: "Show a custom role with its permissions",
    ...READ,
    params: IdParams,
    returns: Role,
    failures: UNKNOWN,
  }, ({ params }) => getRole(deps, params.id)),

  endpoint({
    method: "post",
    path: "/roles",
    summary: "Create a custom role",
    description:
      "Users may do what their role (viewer, operator, admin) allows, plus what their custom " +
      "roles grant. The permission that an endpoint needs is its `x-permission`. Nobody can " +
      "create, change, assign or delete a custom role with a permission that they do not have " +
      `themselves. Names are compared without case. There can be ${ROLES_MAX} roles.`,
    ...WRITE,
    body: NewRole,
    returns: Role,
    status: 201,
    failures: { 403: BEYOND, 409: `Another role has this name, or there are ${ROLES_MAX} roles` },
  }, ({ body, caller }) => createRole(deps, caller, body)),

  endpoint({
    method: "put",
    path: "/roles/:id",
    summary: "Change a custom role",
    description:
      "A field that is left out stays as it is; `permissions` are replaced as a whole. " +
      "A change holds for the very next request of whoever has the role.",
    ...WRITE,
    params: IdParams,
    body: RoleChange,
    returns: Role,
    failures: { 403: BEYOND, 409: "Another role has this name", ...UNKNOWN },
  }, ({ params, body, caller }) => changeRole(deps, caller, params.id, body)),

  endpoint({
    method: "delete",
    path: "/roles/:id",
    summary: "Delete a custom role",
    description: "Whoever has it loses it.",
    ...WRITE,
    params: IdParams,
    returns: Done,
    failures: { 403: BEYOND, ...UNKNOWN },
  }, ({ params, caller }) => {
    removeRole(deps, caller, params.id);
    return done;
  }),
];

/** What was given, cut to a length that is worth repeating. */
const quoted = (input: unknown) => JSON.stringify(input)?.slice(0, 100) ?? "nothing";
