/**
 * Permissions do not lead to more permissions: attacks by users with some of an admin's by a
 * custom role.
 *
 * @module
 */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Caller } from "../../../services/access/caller.ts";
import { changePassword } from "../../../services/access/users/passwords.ts";
import { setUserRole } from "../../../services/access/users/users.ts";
import { login, PASSWORD } from "../../helpers/accounts.ts";
import { appWithRights, createRole, grant, groups, ROLES } from "../../helpers/custom_roles.ts";

const NEXT = "another password";
const bob = { email: "bob@example.com", password: PASSWORD };

type Call = [method: string, path: string, body?: unknown];

const ADMINS_ONLY = /requires the role admin/;
const BEYOND = /permissions that you do not have/;

// In the paths, ADMIN, OPERATOR and VIEWER (the caller) are ids of users.
for (
  const [attack, [method, path, body], error] of [
    [
      "create an admin",
      ["POST", "/auth/users", { ...bob, role: "admin" }],
      /^Assigning the role admin requires the role admin$/,
    ],
    [
      "create an operator",
      ["POST", "/auth/users", { ...bob, role: "operator" }],
      /^Assigning the role operator requires the role operator$/,
    ],
    ["become an admin", ["PUT", "/auth/users/VIEWER/role", { role: "admin" }], ADMINS_ONLY],
    [
      "become an operator",
      ["PUT", "/auth/users/VIEWER/role", { role: "operator" }],
      /requires the role operator/,
    ],
    ["make another an admin", ["PUT", "/auth/users/OPERATOR/role", { role: "admin" }], ADMINS_ONLY],
    ["demote the admin", ["PUT", "/auth/users/ADMIN/role", { role: "viewer" }], BEYOND],
    [
      "leave the admin's role as it is",
      ["PUT", "/auth/users/ADMIN/role", { role: "admin" }],
      ADMINS_ONLY,
    ],
    ["demote an operator", ["PUT", "/auth/users/OPERATOR/role", { role: "viewer" }], BEYOND],
    [
      "change the admin's password",
      ["PUT", "/auth/users/ADMIN/password", { password: NEXT }],
      BEYOND,
    ],
    [
      "change the admin's password with the own current one",
      ["PUT", "/auth/users/ADMIN/password", { password: NEXT, current_password: PASSWORD }],
      BEYOND,
    ],
    [
      "change an operator's password",
      ["PUT", "/auth/users/OPERATOR/password", { password: NEXT }],
      BEYOND,
    ],
    ["delete the admin", ["DELETE", "/auth/users/ADMIN"], BEYOND],
    ["delete an operator", ["DELETE", "/auth/users/OPERATOR"], BEYOND],
    [
      "assign a role to themselves",
      ["POST", ROLES, { name: "mine", permissions: groups(["users:write"]) }],
      /^The role admin or the permission custom_roles:write is required/,
    ],
  ] as [string, Call, RegExp][]
) {
  Deno.test(`with users:write a viewer cannot ${attack}`, async () => {
    using app = await appWithRights("users:write", "users:read");
    const before = (await app.call("GET", "/auth/users")).body;
    const real = path.replace(
      /ADMIN|OPERATOR|VIEWER/,
      (name) => app.ids[name.toLowerCase() as keyof typeof app.ids],
    );

    const refused = await app.asViewer(method, real, body);

    equal(refused.status, 403);
    match(refused.body.error, error);
    const after = (await app.call("GET", "/auth/users")).body;
    deepEqual(
      after.users.map(({ id, role }: Record<string, string>) => [id, role]),
      before.users.map(({ id, role }: Record<string, string>) => [id, role]),
    );
    await login(app, "admin@example.com");
    await login(app, "operator@example.com");
  });
}

Deno.test("with users:write a viewer manages viewers: creates them, changes their passwords, deletes them", async () => {
  using app = await appWithRights("users:write");
  const created = await app.asViewer("POST", "/auth/users", { ...bob, role: "viewer" });
  equal(created.status, 201);
  const path = `/auth/users/${created.body.id}`;
  equal((await app.asViewer("PUT", `${path}/role`, { role: "viewer" })).status, 200);
  equal((await app.asViewer("PUT", `${path}/password`, { password: NEXT })).status, 200);
  await login(app, bob.email, NEXT);
  equal((await app.asViewer("DELETE", path)).status, 200);
  equal((await app.asViewer("DELETE", path)).status, 404);
  equal((await app.asViewer("GET", "/auth/users")).status, 403, "users:read is another right");
});

Deno.test("with users:write a viewer revokes API tokens of viewers, not of users with more rights", async () => {
  using app = await appWithRights("users:write");
  const { id: bobId } = (await app.call("POST", "/auth/users", { ...bob, role: "viewer" })).body;
  const issue = async (email: string) => {
    const { accessToken: token } = await login(app, email);
    return (await app.call("POST", "/api/tokens", { name: "CI", role: "viewer" }, { token })).body;
  };
  const [ofAdmin, ofOperator, ofBob] = [
    await issue("admin@example.com"),
    await issue("operator@example.com"),
    await issue(bob.email),
  ];
  await grant(app, bobId, ["containers:exec"]);
  const ofKey = (await app.call("POST", "/api/tokens", { name: "CI", role: "viewer" })).body;
  const kept = [ofAdmin, ofOperator, ofBob, ofKey].map(({ id }) => id);
  for (const id of kept) {
    const { status, body } = await app.asViewer("DELETE", `/api/tokens/${id}`);
    equal(status, 403);
    match(body.error, BEYOND);
  }
  const { tokens } = (await app.call("GET", "/api/tokens?all=true")).body;
  deepEqual(tokens.map(({ id }: { id: string }) => id).sort(), kept.sort());
  const ofViewer = await issue("viewer@example.com");
  equal((await app.asViewer("DELETE", `/api/tokens/${ofViewer.id}`)).status, 200);
  const ann = { email: "ann@example.com", password: PASSWORD };
  await app.call("POST", "/auth/users", { ...ann, role: "viewer" });
  const { id } = await issue(ann.email);
  equal((await app.asViewer("DELETE", `/api/tokens/${id}`)).status, 200);
});

Deno.test("with users:write, changing your own password still needs the current one", async () => {
  using app = await appWithRights("users:write");
  const path = `/auth/users/${app.ids.viewer}/password`;
  equal((await app.asViewer("PUT", path, { password: NEXT })).status, 400);
});

Deno.test("with users:write a user with more custom permissions cannot be changed or deleted", async () => {
  using app = await appWithRights("users:write");
  const { id } = (await app.call("POST", "/auth/users", { ...bob, role: "viewer" })).body;
  const role = await grant(app, id, ["containers:exec"]);
  for (
    const [method, path, body] of [
      ["PUT", "password", { password: NEXT }],
      ["PUT", "role", { role: "viewer" }],
      ["DELETE", ""],
    ] as [string, string, unknown?][]
  ) {
    const refused = await app.asViewer(method, `/auth/users/${id}/${path}`, body);
    deepEqual([method, path, refused.status], [method, path, 403]);
  }
  await login(app, bob.email);

  // With the same permission nothing is gained.
  await app.call("POST", `${ROLES}/${role}/users`, { user_id: app.ids.viewer });
  const password = { password: NEXT };
  equal((await app.asViewer("PUT", `/auth/users/${id}/password`, password)).status, 200);
});

Deno.test("a user who becomes an admin while their new password is hashed keeps the old one", async () => {
  using app = await appWithRights("users:write");
  const { id } = (await app.call("POST", "/auth/users", { ...bob, role: "viewer" })).body;
  const caller: Caller = {
    userId: app.ids.viewer,
    role: "viewer",
    familyId: "",
    address: "",
    rights: {
      grants: () => true,
      hostLimits: () => undefined,
      includeThoseOf: () => true,
      isAdmitted: () => true,
    },
  };
  const passwords = { password: NEXT, currentPassword: undefined };

  // It runs until the hash and continues after it.
  const changing = changePassword(app.deps, caller, id, passwords);
  setUserRole(app.deps, { ...caller, role: "admin" }, id, "admin");

  await rejects(changing, { code: "forbidden" });
  equal((await login(app, bob.email)).role, "admin");
});

Deno.test("a custom role with every permission does not make its user an admin", async () => {
  using app = await appWithRights("*:*");
  const role = { role: "admin" };
  equal((await app.asViewer("PUT", `/auth/users/${app.ids.viewer}/role`, role)).status, 403);
  equal((await app.asViewer("DELETE", `/auth/users/${app.ids.admin}`)).status, 403);
  const password = { password: NEXT };
  equal(
    (await app.asViewer("PUT", `/auth/users/${app.ids.admin}/password`, password)).status,
    403,
  );
});

// STRONG is a role with containers:exec, which the caller lacks.
for (
  const [attack, [method, path, body]] of [
    [
      "create a role with a permission",
      ["POST", ROLES, { name: "x", permissions: groups(["containers:exec"]) }],
    ],
    [
      "create a role with a permission among own ones",
      ["POST", ROLES, { name: "x", permissions: groups(["sla:write", "users:write"]) }],
    ],
    [
      "create a role with every action",
      ["POST", ROLES, { name: "x", permissions: groups(["sla:*"]) }],
    ],
    [
      "create a role with an action of every resource",
      ["POST", ROLES, { name: "x", permissions: groups(["*:read"]) }],
    ],
    ["create a role with everything", ["POST", ROLES, { name: "x", permissions: groups(["*:*"]) }]],
    [
      "add a permission to the own role",
      ["PUT", `${ROLES}/OWN`, { permissions: groups(["custom_roles:write", "users:write"]) }],
    ],
    [
      "assign a strong role to themselves",
      ["POST", `${ROLES}/STRONG/users`, { user_id: "VIEWER" }],
    ],
    ["assign a strong role to another", ["POST", `${ROLES}/STRONG/users`, { user_id: "OPERATOR" }]],
    [
      "learn by a strong role whom there is",
      ["POST", `${ROLES}/STRONG/users`, { user_id: "unknown" }],
    ],
    ["rename a strong role to disguise it", ["PUT", `${ROLES}/STRONG`, { name: "Read only" }]],
    ["take a strong role's permissions away", ["PUT", `${ROLES}/STRONG`, { permissions: [] }]],
    ["delete a strong role", ["DELETE", `${ROLES}/STRONG`]],
    ["take a strong role from the admin", ["DELETE", `${ROLES}/STRONG/users/ADMIN`]],
  ] as [string, Call][]
) {
  Deno.test(`with custom_roles:write a viewer cannot ${attack} beyond their own permissions`, async () => {
    using app = await appWithRights("custom_roles:write", "sla:write");
    const [{ id: own }] = (await app.call("GET", ROLES)).body.roles;
    const strong = await grant(app, app.ids.admin, ["containers:exec"]);
    const filled = (text: string) =>
      text.replace("STRONG", strong).replace("OWN", own)
        .replace(/ADMIN|OPERATOR|VIEWER/, (name) =>
          app.ids[name.toLowerCase() as keyof typeof app.ids]);
    const before = (await app.call("GET", ROLES)).body;

    const sent = body && JSON.parse(filled(JSON.stringify(body)));
    const refused = await app.asViewer(method, filled(path), sent);

    equal(refused.status, 403);
    match(
      refused.body.error,
      /^Cannot manage a role with the permission [*\w]+:[*\w]+: you do not have this permission$/,
    );
    deepEqual((await app.call("GET", ROLES)).body, before);
    equal((await app.call("GET", `${ROLES}/${strong}`)).body.permission_count, 1);
  });
}

Deno.test("with custom_roles:write a viewer can assign the permissions that they have", async () => {
  using app = await appWithRights("custom_roles:write", "sla:write");
  const role = { name: "mine", permissions: groups(["sla:write", "sla:read", "containers:logs"]) };
  const created = await app.asViewer("POST", ROLES, role);
  equal(created.status, 201);
  const path = `${ROLES}/${created.body.id}`;
  equal((await app.asViewer("PUT", path, { name: "ours" })).status, 200);
  const user_id = app.ids.operator;
  equal((await app.asViewer("POST", `${path}/users`, { user_id })).status, 200);
  equal((await app.asViewer("DELETE", `${path}/users/${user_id}`)).status, 200);
  equal((await app.asViewer("DELETE", path)).status, 200);
  equal((await app.asViewer("GET", ROLES)).status, 403, "custom_roles:read is another right");
});

Deno.test("a user who lost a permission can no longer assign it", async () => {
  using app = await appWithRights("custom_roles:write");
  const role = await grant(app, app.ids.viewer, ["sla:write"]);
  const mine = (n: number) => ({ name: `mine ${n}`, permissions: groups(["sla:write"]) });
  const { id } = (await app.asViewer("POST", ROLES, mine(1))).body;
  await app.call("DELETE", `${ROLES}/${role}/users/${app.ids.viewer}`);
  equal((await app.asViewer("POST", ROLES, mine(2))).status, 403);
  const assignment = { user_id: app.ids.viewer };
  equal((await app.asViewer("POST", `${ROLES}/${id}/users`, assignment)).status, 403);
});

Deno.test("custom_roles:read allows no write", async () => {
  using app = await appWithRights("custom_roles:read", "sla:read");
  const id = await createRole(app, "x", ["sla:read"]);
  for (
    const [method, path, body] of [
      ["POST", ROLES, { name: "y" }],
      ["PUT", `${ROLES}/${id}`, { name: "y" }],
      ["DELETE", `${ROLES}/${id}`],
      ["POST", `${ROLES}/${id}/users`, { user_id: app.ids.viewer }],
      ["DELETE", `${ROLES}/${id}/users/${app.ids.viewer}`],
    ] as [string, string, unknown?][]
  ) {
    const refused = await app.asViewer(method, path, body);
    deepEqual([method, path, refused.status], [method, path, 403]);
  }
  equal((await app.asViewer("GET", `${ROLES}/${id}`)).status, 200);
});

const BULK = "/api/containers/bulk";

for (const granted of ["start", "stop", "restart"]) {
  Deno.test(`containers:${granted} acts on several containers by no other action`, async () => {
    using app = await appWithRights(`containers:${granted}`);
    for (const action of ["start", "stop", "restart"]) {
      const { status } = await app.asViewer("POST", BULK, { ids: ["web"], action });
      deepEqual([action, status === 403], [action, action !== granted]);
    }
  });
}

Deno.test("a prune with volumes also requires volumes:prune", async () => {
  using app = await appWithRights("system:prune");
  const prune = async (includeVolumes: boolean) =>
    (await app.asViewer("POST", "/api/system/prune", { includeVolumes })).status;
  equal(await prune(false), 503, "past the access check; the engine is unreachable");
  equal(await prune(true), 403);
  await grant(app, app.ids.viewer, ["volumes:prune"]);
  equal(await prune(true), 503);
});

Deno.test("the addresses of subscribers are shown only to those who may change status pages", async () => {
  using app = await appWithRights();
  const pages = "/api/ext/service-pro/status-pages";
  const { id } = (await app.call("POST", pages, { name: "Shop" })).body;
  const webhook_url = "https://hooks.example.com/x";
  equal((await app.call("POST", `${pages}/${id}/subscribers`, { webhook_url })).status, 201);
  const shown = async () =>
    (await app.asViewer("GET", `${pages}/${id}/subscribers`)).body.subscribers[0].webhook_url;
  equal(await shown(), "********");
  await grant(app, app.ids.viewer, ["status_pages:write"]);
  equal(await shown(), webhook_url);
});
