/**
 * Custom roles apply to every endpoint of every edition: each declares a permission of the catalogue,
 * and the access check allows exactly the endpoints that declare it.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { Hono } from "hono";
import { insertRoleAssignment } from "../../db/enterprise/role_assignments.ts";
import { insertRole, replacePermissions } from "../../db/enterprise/roles.ts";
import * as z from "zod";
import { createApp } from "../../routes/app.ts";
import { everyRoute } from "../../routes/editions.ts";
import { type Endpoint, permissionsOf } from "../../routes/contract/endpoint.ts";
import { failureOf } from "../../routes/pipeline/errors.ts";
import { type AppEnv, respondJson } from "../../routes/pipeline/exchange.ts";
import type { EndpointDeps } from "../../routes/pipeline/request_context.ts";
import { mount } from "../../routes/pipeline/mount.ts";
import { createScopeCheck } from "../../routes/pipeline/scope.ts";
import { createLimiters } from "../../services/access/limiters.ts";
import {
  includesRole,
  type Role,
  USER_ROLES,
  type UserRole,
} from "../../services/access/caller.ts";
import { accessPolicySource } from "../../services/editions.ts";
import {
  leastRole,
  parsePermission,
  permissionName,
  PERMISSIONS,
} from "../../services/access/permissions.ts";
import { createCurrentAccessPolicy } from "../../services/access/current_policy.ts";
import { TEST_ADDRESS, type TestApp, testApp } from "../helpers/test_app.ts";

const KNOWN = PERMISSIONS.map(permissionName);

/** Operations of every user on their own account, sessions, devices and API tokens. */
const OWN = [
  "GET /api/account",
  "PUT /api/account",
  "PUT /api/account/password",
  "GET /api/account/sessions",
  "DELETE /api/account/sessions",
  "DELETE /api/account/sessions/:id",
  "GET /api/account/totp",
  "POST /api/account/totp",
  "POST /api/account/totp/confirm",
  "DELETE /api/account/totp",
  "POST /api/account/passkeys/options",
  "GET /api/account/passkeys",
  "POST /api/account/passkeys",
  "PUT /api/account/passkeys/:id",
  "DELETE /api/account/passkeys/:id",
  "GET /api/account/identities",
  "DELETE /api/account/identities/:id",
  "GET /auth/me",
  // The host checks the permissions.
  "GET /api/fleet/hosts/:id/api/:path{.+}",
  "POST /api/fleet/hosts/:id/api/:path{.+}",
  "PUT /api/fleet/hosts/:id/api/:path{.+}",
  "DELETE /api/fleet/hosts/:id/api/:path{.+}",
  "POST /api/push/register",
  "POST /api/push/unregister",
  "POST /auth/logout",
  "GET /api/tokens",
  "POST /api/tokens",
  "POST /api/tokens/:id/rotate",
  "DELETE /api/tokens/:id",
];

/**
 * Reserved to the role admin: a custom role must not be able to end the edition that limits it, to
 * run what the allowlist of `containers:exec` does not have, to get the keys of the service, or to
 * create the first admin, or to add nodes to a swarm, promote or drain them, or to choose a provider that can sign in as any user, or users whom a
 * provider can sign in.
 */
const ADMIN_ONLY = [
  "DELETE /api/edition/license",
  "DELETE /api/identity/oidc/:id",
  "DELETE /api/users/:id/identities/:identityId",
  "GET /api/containers/:id/attach",
  "GET /api/containers/:id/terminal",
  "GET /api/identity/oidc/:id/test",
  "GET /api/swarm/tokens",
  "POST /api/backup",
  "POST /api/backup/own",
  "POST /api/backup/own/:id/download",
  "POST /api/containers/:id/attach/ticket",
  "POST /api/containers/:id/terminal/ticket",
  "POST /api/edition/license",
  "POST /api/edition/trial",
  "POST /api/identity/oidc",
  "POST /api/identity/oidc/:id/test",
  "POST /api/settings/users-mode",
  "POST /api/swarm/tokens/rotate",
  "POST /auth/users/:id/email/confirm",
  "PUT /api/identity/oidc/:id",
  "PUT /api/swarm/nodes/:id",
];

interface Served {
  path: string;
  endpoint: Endpoint;
}

async function everyEndpoint(): Promise<Served[]> {
  using app = testApp();
  return (await everyRoute(app.deps)).flatMap(({ prefix, endpoints }) =>
    endpoints.map((endpoint) => ({ path: prefix + endpoint.path, endpoint }))
  );
}

const everything = await everyEndpoint();
const guarded = everything.filter(({ endpoint }) => endpoint.role !== "public");
const named = ({ endpoint, path }: Served) => `${endpoint.method.toUpperCase()} ${path}`;
const namesOf = ({ permission, orPermissions = [] }: Endpoint): string[] =>
  permission === undefined ? [] : [permission, ...orPermissions];

Deno.test("every endpoint that needs a token declares a permission", () => {
  deepEqual(
    guarded.filter(({ endpoint }) => endpoint.permission === undefined).map(named).sort(),
    [...OWN, ...ADMIN_ONLY].sort(),
  );
});

Deno.test("every permission that an endpoint declares is in the catalogue", () => {
  const unknown = everything.filter(({ endpoint }) =>
    namesOf(endpoint).some((name) => !KNOWN.includes(name))
  );
  deepEqual(unknown.map(named), []);
});

Deno.test("reads declare a read permission, and writes do not", () => {
  // Requests that change nothing.
  const READS = [
    "POST /api/stacks/validate",
    "POST /api/stacks/:name/plan",
    "POST /api/stacks/generate",
    "POST /api/stacks/convert",
    "POST /api/stream/ticket",
    "POST /api/ext/service-enterprise/compliance/verify-chain",
    // It shows where the files of all stacks are, to those who may take them over.
    "GET /api/takeover",
  ];
  const wrong = guarded.filter((served) => {
    const { endpoint } = served;
    const reads = namesOf(endpoint).filter((name) => /:(read|logs|export)$/.test(name)).length;
    return reads !== (endpoint.method === "get" ? namesOf(endpoint).length : 0) &&
      !READS.includes(named(served));
  });
  deepEqual(wrong.map(named), []);
});

Deno.test("the catalogue has the lowest role that includes each permission", () => {
  const roles = KNOWN.map((name) => {
    const needed = guarded.filter(({ endpoint }) => namesOf(endpoint).includes(name))
      // Users may change their own password, and admins every password.
      .filter((served) => named(served) !== "PUT /auth/users/:id/password")
      .map(({ endpoint }) => endpoint.role as UserRole);
    // A permission that no endpoint declares is part of one that admins have.
    return [
      name,
      needed.length === 0 ? "admin" : USER_ROLES.findLast((role) => needed.includes(role)),
    ];
  });
  deepEqual(KNOWN.map((name) => [name, leastRole(parsePermission(name))]), roles);
});

Deno.test("a viewer with one permission can use exactly the endpoints that declare it", async () => {
  using app = testApp({ edition: "enterprise" });
  const ask = await gates(app);
  for (const name of KNOWN) giveRole(app, `with ${name}`, [name]);

  for (const name of KNOWN) {
    const wrong: string[] = [];
    for (const served of guarded) {
      const opens = includesRole("viewer", served.endpoint.role) ||
        namesOf(served.endpoint).includes(name);
      const status = await ask(served, `with ${name}`);
      if (status !== (opens ? 200 : 403)) wrong.push(`${named(served)}: ${status}`);
    }
    deepEqual([name, wrong], [name, []]);
  }
});

for (
  const { what, permissions, opens } of [
    { what: "nothing", permissions: [], opens: () => false },
    { what: "a role without permissions", permissions: [[]], opens: () => false },
    {
      what: "every action on containers",
      permissions: [["containers:*"]],
      opens: (name: string) => name.startsWith("containers:"),
    },
    {
      what: "reading everything",
      permissions: [["*:read"]],
      opens: (name: string) => name.endsWith(":read") && name !== "files:read",
    },
    {
      what: "everything",
      permissions: [["*:*"]],
      opens: (name: string) => !name.startsWith("files:"),
    },
    { what: "files by name, too", permissions: [["*:*", "files:*"]], opens: () => true },
    {
      what: "two roles",
      permissions: [["sla:write"], ["users:read"]],
      opens: (name: string) => name === "sla:write" || name === "users:read",
    },
    // Stored permissions never imply other permissions.
    {
      what: "patterns that are none",
      permissions: [[
        "%:%",
        "container_:start",
        "Containers:Start",
        "containers: start",
        ":",
        "?:*",
      ]],
      opens: () => false,
    },
  ] as { what: string; permissions: string[][]; opens: (name: string) => boolean }[]
) {
  Deno.test(`a viewer with ${what} can use the endpoints that declare it, and no others`, async () => {
    using app = testApp({ edition: "enterprise" });
    const ask = await gates(app);
    for (const each of permissions) giveRole(app, "ada", each);
    giveRole(app, "another user", ["*:*"]);
    const wrong: string[] = [];
    for (const served of guarded) {
      const { role } = served.endpoint;
      const may = includesRole("viewer", role) || namesOf(served.endpoint).some(opens);
      if (await ask(served, "ada") !== (may ? 200 : 403)) wrong.push(named(served));
    }
    deepEqual(wrong, []);
  });
}

Deno.test("custom roles have no effect without the license", async () => {
  using app = testApp({ edition: "pro" });
  const ask = await gates(app);
  giveRole(app, "ada", ["*:*"]);
  for (const served of guarded.filter(({ endpoint }) => endpoint.role !== "viewer")) {
    const { path } = served;
    const status = await ask(served, "ada");
    equal(status, path.includes("service-enterprise") ? 402 : 403, named(served));
  }
});

Deno.test("no handler refuses a request that the access check allows", async () => {
  using app = testApp({ edition: "enterprise" });
  giveRole(app, "ada", ["*:*", "files:*"]);
  const caller = { userId: "ada", role: "viewer", familyId: "family" } as const;
  const answer = createApp(
    app.deps,
    (_, { address }) => Promise.resolve({ ...caller, address }),
  );
  const refused: string[] = [];
  for (const served of guarded) {
    const method = served.endpoint.method.toUpperCase();
    const isRead = method === "GET";
    const response = await answer(
      new Request(`http://longshore.test${addressOf(served)}`, {
        method,
        ...(!isRead && { headers: { "content-type": "application/json" }, body: "{}" }),
      }),
      TEST_ADDRESS,
    );
    await response.body?.cancel();
    if (response.status === 403) refused.push(named(served));
  }
  deepEqual(refused.sort(), ADMIN_ONLY);
});

/** The real access checks, with empty handlers: 200 means that the handler was reached. */
async function gates(
  { deps }: TestApp,
): Promise<(served: Served, userId: string) => Promise<number>> {
  const caller: { userId: string; role: Role } = { userId: "", role: "viewer" };
  const endpointDeps: EndpointDeps = {
    license: deps.license,
    identify: (_, { address }) => Promise.resolve({ ...caller, familyId: "family", address }),
    audit: () => {},
    deniedReads: { isNew: () => false },
    changes: { record: () => {} },
    scopes: createScopeCheck(deps),
    assertEnrolled: () => {},
    largeBodies: createLimiters().largeBodies,
    containerNames: () => [],
    currentPolicy: createCurrentAccessPolicy(deps, {
      ...accessPolicySource,
      load: async () => withoutRecords(await accessPolicySource.load()),
    }),
  };
  const hono = new Hono<AppEnv>({ strict: false });
  for (const routes of await everyRoute(deps)) {
    mount(hono, { ...routes, endpoints: routes.endpoints.map(reachable) }, endpointDeps);
  }
  hono.onError((error, c) => {
    const { status, body } = failureOf(error, deps.license.edition);
    return respondJson(c.env, status, body);
  });

  return async (served, userId) => {
    caller.userId = userId;
    const exchange = { requestId: "test", address: TEST_ADDRESS, headers: {} };
    const method = served.endpoint.method.toUpperCase();
    const request = new Request(`http://longshore.test${addressOf(served)}`, { method });
    const response = await hono.fetch(request, exchange);
    await response.body?.cancel();
    return response.status;
  };
}

/** Without audit records, which would slow down ten thousand requests. */
function withoutRecords(
  create: Awaited<ReturnType<typeof accessPolicySource.load>>,
): Awaited<ReturnType<typeof accessPolicySource.load>> {
  return (deps) => ({ ...create(deps), record: () => {} });
}

function reachable(endpoint: Endpoint): Endpoint {
  const { query: _, body: __, form: ___, version: ____, ...contract } = endpoint;
  const reached = () => ({ status: 200, headers: {}, body: null });
  const params = z.record(z.string(), z.string());
  return { ...contract, params, produces: "text/plain", handle: reached };
}

const addressOf = ({ path }: Served) => path.replace(/:\w+/g, "x");

function giveRole({ deps: { db } }: TestApp, userId: string, permissions: readonly string[]): void {
  const id = crypto.randomUUID();
  const at = "2026-01-01T00:00:00.000Z";
  insertRole(db, {
    id,
    name: id,
    name_key: id,
    description: "",
    priority: 0,
    hosts: null,
    host_labels: null,
    created_at: at,
    updated_at: at,
  });
  replacePermissions(db, id, permissions.map(parsePermission));
  insertRoleAssignment(db, { user_id: userId, role_id: id, assigned_at: at, assigned_by: "test" });
}

Deno.test("the dashboard hides what a user may not do by the role and permission of endpoints", async () => {
  const known = new Set([
    ...guarded.flatMap(({ endpoint }) =>
      permissionsOf(endpoint).map((permission) => `${endpoint.role} ${permission}`)
    ),
    // Checked by handlers.
    ...PERMISSIONS.map((each) => `${leastRole(each)} ${permissionName(each)}`),
  ]);
  const asked = [];
  for (const path of await sourcesIn("ui")) {
    const text = await Deno.readTextFile(path);
    const pairs = /(?:hasRole\(|actionsFor=\{\[|role: )\s*"(\w+)",\s*(?:permission: )?"(\w+:\w+)"/g;
    for (const [, role, permission] of text.matchAll(pairs)) asked.push(`${role} ${permission}`);
  }
  ok(asked.length > 50, "finds them");
  deepEqual(asked.filter((each) => !known.has(each)), []);
});

async function sourcesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await sourcesIn(path));
    else if (/\.tsx?$/.test(name)) found.push(path);
  }
  return found;
}
