import { deepEqual, equal } from "node:assert/strict";
import {
  actionsOf,
  leastRole,
  parsePermission,
  permissionName,
  PERMISSIONS,
} from "../../../../services/access/permissions.ts";
import {
  groupPermissions,
  includesPermission,
  ungroupPermissions,
} from "../../../../services/enterprise/roles/permissions.ts";

const READ_WRITE =
  "registries alerts webhooks notifications schedules integrations incidents remediation status_pages uptime chatops sla " +
  "users settings fleet git swarm swarm_secrets compliance sso custom_roles ip_allowlist mtls encryption";

Deno.test("the catalogue has exactly these resources and actions", () => {
  const expected: Record<string, string> = {
    containers: "read start stop restart pause update write delete rebuild exec logs",
    stacks: "read start stop restart update write",
    stack_sources: "read",
    images: "read write export delete prune",
    volumes: "read write delete prune",
    networks: "read write",
    system: "read prune",
    backup: "read run write",
    files: "read write",
    ...Object.fromEntries(READ_WRITE.split(" ").map((resource) => [resource, "read write"])),
  };
  deepEqual(
    PERMISSIONS.map(permissionName).sort(),
    Object.entries(expected).flatMap(([resource, actions]) =>
      actions.split(" ").map((action) => `${resource}:${action}`)
    ).sort(),
  );
});

for (
  const [have, need, included] of [
    ["containers:start", "containers:start", true],
    ["containers:start", "containers:stop", false],
    ["containers:start", "stacks:start", false],
    ["containers:*", "containers:stop", true],
    ["containers:*", "stacks:stop", false],
    ["*:read", "sla:read", true],
    ["*:read", "sla:write", false],
    ["*:*", "sla:write", true],
    ["*:*", "*:*", true],
    // Files are granted by name.
    ["*:read", "files:read", false],
    ["*:*", "files:write", false],
    ["files:*", "files:write", true],
    ["containers:*", "containers:*", true],
    // A permission for every action grows with the catalogue, one for a single action does not.
    ["networks:read", "networks:*", false],
    ["*:read", "*:*", false],
    ["containers:*", "*:start", false],
  ] as const
) {
  Deno.test(`${have} ${included ? "includes" : "does not include"} ${need}`, () =>
    equal(includesPermission(parsePermission(have), parsePermission(need)), included));
}

for (
  const [permission, role] of [
    ["containers:read", "viewer"],
    ["containers:start", "operator"],
    ["containers:exec", "admin"],
    ["incidents:write", "admin"],
    ["settings:read", "admin"],
    ["networks:*", "admin"],
    ["*:read", "admin"],
    ["*:*", "admin"],
    ["nothing:read", "admin"],
    ["containers:constructor", "admin"],
    ["__proto__:toString", "admin"],
  ] as const
) {
  Deno.test(`without a custom role ${permission} needs the role ${role}`, () =>
    equal(leastRole(parsePermission(permission)), role));
}

Deno.test("the properties of every object (toString) are not resources", () => {
  for (const resource of ["__proto__", "constructor", "toString", "hasOwnProperty", ""]) {
    deepEqual(actionsOf(resource), []);
  }
});

Deno.test("permissions are ungrouped to pairs, each once, and grouped in the order of the catalogue", () => {
  const pairs = ungroupPermissions([
    { resource: "stacks", actions: ["stop", "read", "stop"] },
    { resource: "containers", actions: ["logs", "*"] },
    { resource: "stacks", actions: ["read"] },
    { resource: "*", actions: ["read"] },
  ]);
  deepEqual(pairs.map(permissionName), [
    "stacks:stop",
    "stacks:read",
    "containers:logs",
    "containers:*",
    "*:read",
  ]);
  deepEqual(groupPermissions(pairs), [
    { resource: "*", actions: ["read"] },
    { resource: "containers", actions: ["*", "logs"] },
    { resource: "stacks", actions: ["read", "stop"] },
  ]);
});
