import { deepEqual, equal, match, notEqual, rejects } from "node:assert/strict";
import { selectRoleAssignment } from "../../../db/enterprise/role_assignments.ts";
import { createGroupRoleStore } from "../../../services/enterprise/roles/group_roles.ts";
import { selectPasswordHash, updateUserPassword } from "../../../db/users.ts";
import type { Caller } from "../../../services/access/caller.ts";
import { changePassword } from "../../../services/access/users/passwords.ts";
import { ensureFirstAdmin, storeUser } from "../../../services/access/users/users.ts";
import { login, PASSWORD, refresh, statusWith, usersApp } from "../../helpers/accounts.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const NEXT = "another password";
const bob = { email: "Bob@Example.com", password: PASSWORD, role: "operator" };

Deno.test("POST /auth/users stores a user and shows it without its password", async () => {
  using app = await usersApp({ now: "2026-01-01T12:00:00Z" });

  const created = await app.call("POST", "/auth/users", bob);

  equal(created.status, 201);
  const { id, ...rest } = created.body;
  match(id, /^[0-9a-f-]{36}$/);
  deepEqual(rest, {
    email: "Bob@Example.com",
    name: null,
    role: "operator",
    createdAt: "2026-01-01T12:00:00.000Z",
    lastLoginAt: null,
  });
  const { users } = (await app.call("GET", "/auth/users")).body;
  deepEqual(users.map(({ email }: { email: string }) => email), [
    "admin@example.com",
    "Bob@Example.com",
    "operator@example.com",
    "viewer@example.com",
  ]);
  deepEqual(users[1], {
    ...created.body,
    isEmailConfirmed: true,
    formerEmail: null,
    isSuspended: false,
  });
  equal((await login(app, "bob@example.com")).role, "operator");
});

for (
  const [what, change, error] of [
    ["no email", { email: undefined }, /^body\.email: must be an email/],
    ["a malformed email", { email: "bob" }, /^body\.email: must be an email/],
    ["two signs at", { email: "a@b@c" }, /^body\.email: /],
    ["a header in the email", { email: "a@b\r\nBcc: c@d" }, /^body\.email: /],
    ["an endless email", { email: `${"a".repeat(251)}@b.c` }, /254/],
    ["a short password", { password: "elevenchars" }, /^body\.password: .* 12 /],
    ["a long password", { password: "ü".repeat(129) }, /^body\.password: .* 128 /],
    ["a number as password", { password: 123456789012 }, /^body\.password: /],
    ["an unknown role", { role: "root" }, /^body\.role: must be one of/],
    ["the public role", { role: "public" }, /^body\.role: /],
    ["no role", { role: undefined }, /^body\.role: /],
  ] as const
) {
  Deno.test(`POST /auth/users refuses ${what}`, async () => {
    using app = await usersApp();
    const answer = await app.call("POST", "/auth/users", { ...bob, ...change });
    equal(answer.status, 400);
    match(answer.body.error, error);
  });
}

Deno.test("a used email is 409, in any case and for concurrent requests", async () => {
  using app = await usersApp();
  const known = await app.call("POST", "/auth/users", { ...bob, email: "ADMIN@example.com" });
  equal(known.status, 409);
  const answers = await Promise.all([
    app.call("POST", "/auth/users", bob),
    app.call("POST", "/auth/users", { ...bob, email: "bob@example.com" }),
  ]);
  deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
});

Deno.test("the edition's limit of users holds for concurrent requests", async () => {
  using app = await usersApp();
  const create = (n: number) => app.call("POST", "/auth/users", { ...bob, email: `u${n}@b.c` });

  const answers = await Promise.all([1, 2, 3, 4].map(create));

  deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 402, 402]);
  deepEqual((await create(5)).body, {
    error: "Edition limit reached (users): the Community Edition allows 5; delete one or upgrade",
    current: 5,
    max: 5,
    currentEdition: "ce",
    upgradeUrl: answers.find(({ status }) => status === 402)!.body.upgradeUrl,
  });
  equal((await app.call("POST", "/auth/users", { ...bob, role: "root" })).status, 400);
});

Deno.test("Pro allows more users", async () => {
  using app = await usersApp({ edition: "pro" });
  for (let n = 0; n < 3; n++) {
    const answer = await app.call("POST", "/auth/users", { ...bob, email: `u${n}@b.c` });
    equal(answer.status, 201);
  }
});

for (
  const [method, path, body] of [
    ["GET", "/auth/users"],
    ["POST", "/auth/users", bob],
    ["DELETE", "/auth/users/ID"],
    ["PUT", "/auth/users/ID/role", { role: "admin" }],
    ["PUT", "/auth/users/ID/password", { password: NEXT }],
  ] as [string, string, unknown?][]
) {
  Deno.test(`${method} ${path} is for admins of users mode`, async () => {
    using app = await usersApp();
    using byKey = testApp();
    const real = path.replace("ID", app.ids.admin);
    equal((await app.call(method, real, body, { role: "public" })).status, 401);
    for (const role of ["viewer", "operator"] as const) {
      const { accessToken: token } = await login(app, `${role}@example.com`);
      equal((await app.call(method, real, body, { token })).status, 403);
    }
    const off = await byKey.call(method, real, body);
    equal(off.status, 404);
    match(off.body.error, /^Users mode is off/);
  });
}

Deno.test("an unknown user is 404", async () => {
  using app = await usersApp();
  for (
    const [method, path, body] of [
      ["DELETE", "/auth/users/none"],
      ["PUT", "/auth/users/none/role", { role: "admin" }],
      ["PUT", "/auth/users/none/password", { password: NEXT }],
    ] as [string, string, unknown?][]
  ) {
    const answer = await app.call(method, path, body);
    deepEqual([answer.status, answer.body], [404, { error: "User none does not exist" }]);
  }
});

Deno.test("a demoted admin loses the role at the next request, and cannot refresh the login", async () => {
  using app = await usersApp();
  const { id } = (await app.call("POST", "/auth/users", { ...bob, role: "admin" })).body;
  const { accessToken: token, refreshToken } = await login(app, bob.email);
  equal((await app.call("GET", "/auth/users", undefined, { token })).status, 200);

  const changed = await app.call("PUT", `/auth/users/${id}/role`, { role: "viewer" });

  equal(changed.status, 200);
  equal(changed.body.role, "viewer");
  equal((await app.call("GET", "/auth/users", undefined, { token })).status, 403);
  equal((await app.call("GET", "/auth/me", undefined, { token })).body.role, "viewer");
  equal((await refresh(app, refreshToken)).status, 401);
  equal((await login(app, bob.email)).role, "viewer");
});

Deno.test("a promoted user has the new role at the next request", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "viewer@example.com");
  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "admin" });
  equal((await app.call("GET", "/auth/users", undefined, { token })).status, 200);
});

Deno.test("the same role again changes nothing", async () => {
  using app = await usersApp();
  const { refreshToken } = await login(app, "admin@example.com");
  const path = `/auth/users/${app.ids.admin}/role`;
  equal((await app.call("PUT", path, { role: "admin" })).status, 200);
  equal((await refresh(app, refreshToken)).status, 200);
});

Deno.test("a deleted user is refused at the next request, and cannot refresh the login", async () => {
  using app = await usersApp();
  const { accessToken, refreshToken } = await login(app, "operator@example.com");

  const answer = await app.call("DELETE", `/auth/users/${app.ids.operator}`);

  deepEqual([answer.status, answer.body], [200, { ok: true }]);
  equal(await statusWith(app, accessToken), 401);
  equal((await refresh(app, refreshToken)).status, 401);
  const body = { email: "operator@example.com", password: PASSWORD };
  equal((await app.call("POST", "/auth/login", body, { role: "public" })).status, 401);

  const again = await app.call("POST", "/auth/users", { ...bob, email: "operator@example.com" });
  notEqual(again.body.id, app.ids.operator);
  equal(await statusWith(app, accessToken), 401, "the address does not bring old tokens back");
});

Deno.test("your own account and the last admin cannot be deleted, nor the last admin demoted", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "admin@example.com");
  const path = `/auth/users/${app.ids.admin}`;

  const own = await app.call("DELETE", path, undefined, { token });
  deepEqual([own.status, own.body], [409, { error: "You cannot delete your own account" }]);
  const last = await app.call("DELETE", path);
  deepEqual([last.status, last.body], [409, { error: "The last admin cannot be deleted" }]);
  const demoted = await app.call("PUT", `${path}/role`, { role: "viewer" });
  deepEqual([demoted.status, demoted.body], [409, { error: "The last admin cannot be demoted" }]);

  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "admin" });
  equal((await app.call("PUT", `${path}/role`, { role: "viewer" }, { token })).status, 200);
  equal((await app.call("DELETE", path)).status, 200);
});

Deno.test("an admin whom a custom role limits to hosts does not count as another admin", async () => {
  using app = await usersApp({ edition: "enterprise" });
  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "admin" });
  const ROLES = "/api/ext/service-enterprise/roles";
  const { body: role } = await app.call("POST", ROLES, {
    ...{ name: "Edge", permissions: [], hosts: ["edge-*"] },
  });
  const assign = { user_id: app.ids.viewer };
  equal((await app.call("POST", `${ROLES}/${role.id}/users`, assign)).status, 200);
  const path = `/auth/users/${app.ids.admin}`;
  equal((await app.call("PUT", `${path}/role`, { role: "viewer" })).status, 409);
  equal((await app.call("DELETE", path)).status, 409);
  // Nor do the groups of an identity provider limit the one that is left.
  const groups = createGroupRoleStore(app.deps);
  groups.set(app.ids.admin, ["Edge"], ["Edge"]);
  equal(selectRoleAssignment(app.deps.db, role.id, app.ids.admin), undefined);
  groups.set(app.ids.operator, ["Edge"], ["Edge"]);
  equal(selectRoleAssignment(app.deps.db, role.id, app.ids.operator)?.user_id, app.ids.operator);
});

Deno.test("two admins cannot delete each other at the same time", async () => {
  using app = await usersApp();
  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "admin" });
  const [one, two] = [
    await login(app, "admin@example.com"),
    await login(app, "viewer@example.com"),
  ];
  const answers = await Promise.all([
    app.call("DELETE", `/auth/users/${app.ids.viewer}`, undefined, { token: one.accessToken }),
    app.call("DELETE", `/auth/users/${app.ids.admin}`, undefined, { token: two.accessToken }),
  ]);
  equal(answers.filter(({ status }) => status === 200).length, 1);
});

Deno.test("currentPassword is the same as current_password", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "viewer@example.com");
  const change = (currentPassword: string) =>
    app.call("PUT", `/auth/users/${app.ids.viewer}/password`, { password: NEXT, currentPassword }, {
      token,
    });
  equal((await change("wrong")).status, 403);
  equal((await change(PASSWORD)).status, 200);
});

Deno.test("changing your own password ends all earlier logins, and a new login lasts", async () => {
  using app = await usersApp();
  const mine = await login(app, "viewer@example.com");
  const other = await login(app, "viewer@example.com");
  const renewed = (await refresh(app, other.refreshToken)).body;

  const answer = await app.call(
    "PUT",
    `/auth/users/${app.ids.viewer}/password`,
    { password: NEXT, current_password: PASSWORD },
    { token: mine.accessToken },
  );

  equal(answer.status, 200);
  equal(answer.body.email, "viewer@example.com");
  for (const { accessToken, refreshToken } of [mine, other, renewed]) {
    equal(await statusWith(app, accessToken), 401);
    equal((await refresh(app, refreshToken)).status, 401);
  }
  // The clock does not advance: the new token has the same second as the revoked ones.
  const next = await login(app, "viewer@example.com", NEXT);
  equal(await statusWith(app, next.accessToken), 200);
  const body = { email: "viewer@example.com", password: PASSWORD };
  equal((await app.call("POST", "/auth/login", body, { role: "public" })).status, 401);
});

Deno.test("a role change does not keep access tokens valid after a password change", async () => {
  using app = await usersApp();
  const { accessToken } = await login(app, "viewer@example.com");
  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "operator" });
  await app.call("PUT", `/auth/users/${app.ids.viewer}/password`, { password: NEXT });
  equal(await statusWith(app, accessToken), 401);
});

Deno.test("an admin changes another's password without the current one", async () => {
  using app = await usersApp();
  const before = await login(app, "operator@example.com");
  const { accessToken: token } = await login(app, "admin@example.com");

  const path = `/auth/users/${app.ids.operator}/password`;
  equal((await app.call("PUT", path, { password: NEXT }, { token })).status, 200);

  equal(await statusWith(app, before.accessToken), 401);
  equal(await statusWith(app, token), 200);
  await login(app, "operator@example.com", NEXT);
});

Deno.test("a password that an admin resets meanwhile is not replaced by its owner", async () => {
  using app = await usersApp();
  const { deps, ids } = app;
  const caller: Caller = { userId: ids.viewer, role: "viewer", familyId: "", address: "192.0.2.1" };
  const passwords = {
    ...deps.passwords,
    hash(password: string) {
      updateUserPassword(deps.db, ids.viewer, "reset by an admin");
      return deps.passwords.hash(password);
    },
  };
  await rejects(
    changePassword({ ...deps, passwords }, caller, ids.viewer, {
      password: NEXT,
      currentPassword: PASSWORD,
    }),
    /current password is wrong/,
  );
  equal(selectPasswordHash(deps.db, ids.viewer), "reset by an admin");
});

for (
  const [what, body, status, error] of [
    ["no current password", { password: NEXT }, 400, /^body\.current_password: Required/],
    [
      "a wrong current password",
      { password: NEXT, current_password: "wrong" },
      403,
      /current password is wrong/,
    ],
    [
      "a short password",
      { password: "short", current_password: PASSWORD },
      400,
      /^body\.password: /,
    ],
    ["no password", { current_password: PASSWORD }, 400, /^body\.password: /],
  ] as const
) {
  for (const role of ["viewer", "admin"] as const) {
    Deno.test(`your own password is not changed with ${what}, as ${role}`, async () => {
      using app = await usersApp();
      const { accessToken: token } = await login(app, `${role}@example.com`);
      const path = `/auth/users/${app.ids[role]}/password`;
      const answer = await app.call("PUT", path, body, { token });
      equal(answer.status, status);
      match(answer.body.error, error);
      equal(await statusWith(app, token), 200);
    });
  }
}

Deno.test("current passwords cannot be guessed with a stolen token", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "viewer@example.com");
  const path = `/auth/users/${app.ids.viewer}/password`;
  const guess = (current_password: string) =>
    app.call("PUT", path, { password: NEXT, current_password }, { token });
  for (let n = 0; n < 10; n++) equal((await guess(`guess ${n}`)).status, 403);
  const refused = await guess(PASSWORD);
  equal(refused.status, 429);
  equal(refused.headers.get("retry-after"), "60");
});

/** Calls ensureFirstAdmin() and returns what it delivered. */
async function firstAdmin(app: TestApp): Promise<{ email: string; password: string }[]> {
  const delivered: { email: string; password: string }[] = [];
  await ensureFirstAdmin(app.deps, (account) => void delivered.push(account));
  return delivered;
}

Deno.test("the first start of users mode creates one admin and delivers the password", async () => {
  using app = testApp({ config: { authMode: "users", adminEmail: "admin@localhost" } });

  const [created] = await firstAdmin(app);

  equal(created?.email, "admin@localhost");
  equal((await login(app, "admin@localhost", created!.password)).role, "admin");
  deepEqual(await firstAdmin(app), []);
});

Deno.test("an admin whose password cannot be delivered is not stored", async () => {
  using app = testApp({ config: { authMode: "users", adminEmail: "admin@localhost" } });
  const fail = () => {
    throw new Error("disk full");
  };
  await rejects(ensureFirstAdmin(app.deps, fail), /disk full/);
  equal((await firstAdmin(app)).length, 1);
});

Deno.test("a given admin password is used and not delivered", async () => {
  const config = {
    authMode: "users",
    adminEmail: "Root@Example.com",
    adminPassword: PASSWORD,
  } as const;
  using app = testApp({ config });
  deepEqual(await firstAdmin(app), []);
  equal((await login(app, "root@example.com")).role, "admin");
});

Deno.test("users of an identity provider in key mode do not replace the first admin", async () => {
  using app = testApp({ config: { authMode: "users" } });
  storeUser(app.deps, { email: "sso@example.com", passwordHash: null, role: "viewer" });
  equal((await firstAdmin(app))[0]?.email, "admin@localhost");
  deepEqual(await firstAdmin(app), []);
});

Deno.test("key mode creates no admin", async () => {
  using app = testApp();
  deepEqual(await firstAdmin(app), []);
});
