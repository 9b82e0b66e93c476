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

/** Bounds of a body; the catalogue has fewer of both. */
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
    description: "Orders lists, highest first; it decides nothing else",
  }),
  permissions: z.array(Permission).max(GROUPS_MAX).meta({
    description: "`*` stands for every resource, or every action, also for those to come",
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
  permission_count: z.int().meta({ description: "Pairs of resource and action" }),
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

const BEYOND = "The role does not allow this, or the custom role can do what the caller cannot";
const UNKNOWN = { 404: "There is no such role" };

export const roleEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/roles",
    summary: "List custom roles",
    description: "By priority, highest first, then by name.",
    role: "admin",
    permission: "custom_roles:read",
    query: z.object(pagingQuery(100)),
    returns: paged({ roles: z.array(ListedRole) }),
  }, ({ query }) => listRoles(deps, query)),

  endpoint({
    method: "get",
    path: "/roles/:id",
    summary: "Show a custom role with its permissions",
    role: "admin",
    permission: "custom_roles:read",
    params: IdParams,
    returns: Role,
    failures: UNKNOWN,
  }, ({ params }) => getRole(deps, params.id)),

  endpoint({
    method: "post",
    path: "/roles",
    summary: "Create a custom role",
    description:
      "What a user may do is what their role (viewer, operator, admin) allows plus what " +
      "their custom roles grant, on every endpoint by the permission that it names " +
      "(`x-permission`). Nobody hands out a permission that they do not have themselves. Names " +
      `are compared without case. At most ${ROLES_MAX} roles.`,
    role: "admin",
    permission: "custom_roles:write",
    body: NewRole,
    returns: Role,
    status: 201,
    failures: { 403: BEYOND, 409: "A role has this name, or there are too many" },
  }, ({ body, caller }) => createRole(deps, caller, body)),

  endpoint({
    method: "put",
    path: "/roles/:id",
    summary: "Change a custom role",
    description: "What is left out stays; permissions are replaced as a whole. It holds at the " +
      "next request of whoever has the role.",
    role: "admin",
    permission: "custom_roles:write",
    params: IdParams,
    body: RoleChange,
    returns: Role,
    failures: { 403: BEYOND, 409: "Another role has this name", ...UNKNOWN },
  }, ({ params, body, caller }) => changeRole(deps, caller, params.id, body)),

  endpoint({
    method: "delete",
    path: "/roles/:id",
    summary: "Delete a custom role",
    description: "It is taken from everybody who has it.",
    role: "admin",
    permission: "custom_roles:write",
    params: IdParams,
    returns: Done,
    failures: { 403: BEYOND, ...UNKNOWN },
  }, ({ params, caller }) => {
    removeRole(deps, caller, params.id);
    return done;
  }),
];

/** What was given, as far as it is worth repeating. */
const quoted = (input: unknown) => JSON.stringify(input)?.slice(0, 100) ?? "nothing";
