import { deepEqual, equal, match, ok } from "node:assert/strict";
import { login, loginByKey, PASSWORD, refresh, statusWith, usersApp } from "../helpers/accounts.ts";
import { OWN_PAGE, testBrowser } from "../helpers/browser_session.ts";
import { collectEvents, type TestApp, testApp } from "../helpers/test_app.ts";

const NEW_PASSWORD = "violet tractor under nine moons";

const put = (app: TestApp, path: string, body: unknown, token: string) =>
  app.call("PUT", path, body, { token });
const sessionsOf = async (app: TestApp, token: string) =>
  (await app.call("GET", "/api/account/sessions", undefined, { token })).body;

Deno.test("GET /api/account in key mode has the mode and the role", async () => {
  using app = testApp();
  const { accessToken: token } = await loginByKey(app);
  deepEqual((await app.call("GET", "/api/account", undefined, { token })).body, {
    mode: "key",
    id: "key",
    email: null,
    name: null,
    role: "admin",
    hasPassword: false,
    createdAt: null,
    lastLoginAt: null,
  });
});

Deno.test("PUT /api/account changes name and email, with which the user then logs in", async () => {
  using app = await usersApp({ now: "2026-01-01T12:00:00Z" });
  const { accessToken: token } = await login(app, "viewer@example.com");

  const answer = await put(app, "/api/account", { name: "Ada", email: "Ada@Example.org" }, token);

  equal(answer.status, 200);
  deepEqual(answer.body, {
    mode: "users",
    id: app.ids.viewer,
    email: "Ada@Example.org",
    name: "Ada",
    role: "viewer",
    hasPassword: true,
    createdAt: "2026-01-01T12:00:00.000Z",
    lastLoginAt: "2026-01-01T12:00:00.000Z",
  });
  deepEqual((await app.call("GET", "/api/account", undefined, { token })).body, answer.body);
  equal((await login(app, "ada@example.org")).role, "viewer");
  equal((await put(app, "/api/account", { name: null }, token)).body.name, null);
  equal((await put(app, "/api/account", {}, token)).body.email, "Ada@Example.org");
  const { users } = (await app.call("GET", "/auth/users")).body;
  ok(users.some(({ email }: { email: string }) => email === "Ada@Example.org"));
});

for (
  const [what, body, status, error] of [
    ["another user's email", { email: "ADMIN@example.com" }, 409, /ADMIN/],
    ["no email address", { email: "ada" }, 400, /^body\.email: /],
    ["a name of two lines", { name: "a\nb" }, 400, /^body\.name: /],
    ["an endless name", { name: "a".repeat(101) }, 400, /^body\.name: /],
    ["a role", { role: "admin" }, 400, /^body\.role: unknown field/],
  ] as const
) {
  Deno.test(`PUT /api/account refuses ${what}`, async () => {
    using app = await usersApp();
    const { accessToken: token } = await login(app, "viewer@example.com");
    const answer = await put(app, "/api/account", body, token);
    equal(answer.status, status);
    match(answer.body.error, error);
  });
}

Deno.test("only an admin's own new email counts as confirmed", async () => {
  using app = await usersApp();
  for (const role of ["admin", "viewer"] as const) {
    const { accessToken: token } = await login(app, `${role}@example.com`);
    await put(app, "/api/account", { email: `${role}@example.org` }, token);
  }
  deepEqual(
    app.deps.db.all("SELECT email, is_email_unconfirmed AS n FROM users ORDER BY email"),
    [
      { email: "admin@example.org", n: 0 },
      { email: "operator@example.com", n: 0 },
      { email: "viewer@example.org", n: 1 },
    ],
  );
});

Deno.test("the account of the API key cannot be changed", async () => {
  using app = testApp();
  const { accessToken: token } = await loginByKey(app);
  equal((await put(app, "/api/account", { name: "Ada" }, token)).status, 404);
  const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
  equal((await put(app, "/api/account/password", body, token)).status, 404);
});

Deno.test("PUT /api/account/password revokes all sessions except the one in use", async () => {
  using app = await usersApp();
  const [mine, other] = [
    await login(app, "viewer@example.com"),
    await login(app, "viewer@example.com"),
  ];
  const operator = await login(app, "operator@example.com");
  const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };

  const answer = await put(app, "/api/account/password", body, mine.accessToken);

  deepEqual([answer.status, answer.body], [200, { ok: true }]);
  equal(await statusWith(app, mine.accessToken), 200);
  equal((await refresh(app, mine.refreshToken)).status, 200);
  equal(await statusWith(app, other.accessToken), 401);
  equal((await refresh(app, other.refreshToken)).status, 401);
  equal(await statusWith(app, operator.accessToken), 200);
  await login(app, "viewer@example.com", NEW_PASSWORD);
});

for (
  const { what, body, status, error } of [
    {
      what: "a wrong current password",
      body: { currentPassword: "wrong wrong wrong", newPassword: NEW_PASSWORD },
      status: 403,
      error: /current password is wrong/,
    },
    {
      what: "a short new password",
      body: { currentPassword: PASSWORD, newPassword: "elevenchars" },
      status: 400,
      error: /^body\.newPassword: must have 12 to 128 characters/,
    },
    {
      what: "a common new password",
      body: { currentPassword: PASSWORD, newPassword: "Administrator" },
      status: 400,
      error: /^body\.newPassword: must not be one of the most common passwords/,
    },
    {
      what: "no current password",
      body: { newPassword: NEW_PASSWORD },
      status: 400,
      error: /^body\.currentPassword: is required/,
    },
  ]
) {
  Deno.test(`PUT /api/account/password refuses ${what}`, async () => {
    using app = await usersApp();
    const [mine, other] = [
      await login(app, "viewer@example.com"),
      await login(app, "viewer@example.com"),
    ];
    const answer = await put(app, "/api/account/password", body, mine.accessToken);
    equal(answer.status, status);
    match(answer.body.error, error);
    equal(await statusWith(app, other.accessToken), 200);
  });
}

Deno.test("wrong current passwords are throttled", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "viewer@example.com");
  const body = { currentPassword: "wrong wrong wrong", newPassword: NEW_PASSWORD };
  for (let n = 0; n < 10; n++) {
    equal((await put(app, "/api/account/password", body, token)).status, 403);
  }
  equal((await put(app, "/api/account/password", body, token)).status, 429);
});

Deno.test("GET /api/account/sessions lists where the account is signed in, last used first", async () => {
  using app = await usersApp({ now: "2026-01-01T12:00:00Z" });
  const credentials = { email: "viewer@example.com", password: PASSWORD };
  const [phone, laptop] = [testBrowser(app, "Phone/1.0"), testBrowser(app, "Laptop/1.0")];
  await phone.signIn(credentials, { address: "198.51.100.7" });
  app.clock.advance({ minutes: 1 });
  const { accessToken: token } = (await laptop.signIn(credentials)).body;
  app.clock.advance({ minutes: 1 });
  await phone.refresh({ address: "203.0.113.9" });
  await login(app, "operator@example.com");

  const { sessions, ...page } = await sessionsOf(app, token);

  deepEqual(page, { total: 2, limit: 100, offset: 0 });
  deepEqual(sessions.map(({ id: _, ...rest }: { id: string }) => rest), [
    {
      address: "203.0.113.9",
      userAgent: "Phone/1.0",
      createdAt: "2026-01-01T12:00:00.000Z",
      lastUsedAt: "2026-01-01T12:02:00.000Z",
      current: false,
    },
    {
      address: "192.0.2.1",
      userAgent: "Laptop/1.0",
      createdAt: "2026-01-01T12:01:00.000Z",
      lastUsedAt: "2026-01-01T12:01:00.000Z",
      current: true,
    },
  ]);
});

Deno.test("sessions disappear when they end, by logout, reuse, expiry or a changed role", async () => {
  using app = await usersApp();
  const credentials = { email: "viewer@example.com", password: PASSWORD };
  const [one, two] = [testBrowser(app), testBrowser(app)];
  await one.signIn(credentials);
  await two.signIn(credentials);
  const old = two.cookie;
  await two.refresh();
  const total = async () =>
    (await app.call("GET", `/api/users/${app.ids.viewer}/sessions`)).body.total;
  equal(await total(), 2);
  await one.signOut();
  equal(await total(), 1);
  app.clock.advance({ seconds: 11 });
  two.cookie = old;
  await two.refresh();
  equal(await total(), 0);

  await login(app, "viewer@example.com");
  await app.call("PUT", `/auth/users/${app.ids.viewer}/role`, { role: "operator" });
  equal(await total(), 1, "its access token is still valid");
  app.clock.advance({ minutes: 15 });
  equal(await total(), 0);

  await login(app, "viewer@example.com");
  app.clock.advance({ days: 30 });
  equal(await total(), 0);
});

Deno.test("DELETE /api/account/sessions/:id revokes a session of the caller only", async () => {
  using app = await usersApp();
  const mine = await login(app, "viewer@example.com");
  const other = await login(app, "viewer@example.com");
  const admin = await login(app, "admin@example.com");
  const token = mine.accessToken;
  const ids = async (token: string) =>
    (await sessionsOf(app, token)).sessions.map(({ id }: { id: string }) => id);
  const [adminId] = await ids(admin.accessToken);
  const { sessions } = await sessionsOf(app, token);
  const { id } = sessions.find(({ current }: { current: boolean }) => !current);

  const revoke = (id: string) =>
    app.call("DELETE", `/api/account/sessions/${id}`, undefined, { token });
  equal((await revoke(adminId)).status, 404);
  equal((await revoke("unknown")).status, 404);
  equal((await revoke(id)).status, 200);
  equal((await revoke(id)).status, 404);

  equal(await statusWith(app, other.accessToken), 401);
  equal((await refresh(app, other.refreshToken)).status, 401);
  equal(await statusWith(app, admin.accessToken), 200);
  equal(await statusWith(app, token), 200);
});

Deno.test("DELETE /api/account/sessions signs out everywhere else", async () => {
  using app = await usersApp();
  const mine = await login(app, "viewer@example.com");
  const credentials = { email: "viewer@example.com", password: PASSWORD };
  const browser = testBrowser(app);
  await browser.signIn(credentials);
  const admin = await login(app, "admin@example.com");
  const token = mine.accessToken;

  equal((await app.call("DELETE", "/api/account/sessions", undefined, { token })).status, 200);

  equal((await browser.refresh()).status, 401);
  equal((await sessionsOf(app, token)).total, 1);
  equal((await refresh(app, mine.refreshToken)).status, 200);
  equal(await statusWith(app, admin.accessToken), 200);
});

Deno.test("admins list and revoke the sessions of a user", async () => {
  using app = await usersApp();
  const [one, two] = [
    await login(app, "viewer@example.com"),
    await login(app, "viewer@example.com"),
  ];
  const path = `/api/users/${app.ids.viewer}/sessions`;
  const { sessions } = (await app.call("GET", path)).body;
  equal(sessions.length, 2);
  equal((await app.call("DELETE", `${path}/${sessions[0].id}`)).status, 200);
  equal((await app.call("GET", path)).body.total, 1);
  equal((await app.call("DELETE", `${path}/${sessions[0].id}`)).status, 404);
  equal((await app.call("DELETE", path)).status, 200);
  equal((await app.call("GET", path)).body.total, 0);
  equal(await statusWith(app, one.accessToken), 401);
  equal(await statusWith(app, two.accessToken), 401);
  const { entries } = (await app.call("GET", "/api/audit?action=sessions")).body;
  equal(entries.length, 3);
  deepEqual(entries[0].targets, ["viewer@example.com", app.ids.viewer]);
});

Deno.test("a session is revoked only under its own user", async () => {
  using app = await usersApp();
  await login(app, "viewer@example.com");
  const { sessions } = (await app.call("GET", `/api/users/${app.ids.viewer}/sessions`)).body;
  const path = `/api/users/${app.ids.operator}/sessions/${sessions[0].id}`;
  equal((await app.call("DELETE", path)).status, 404);
  equal((await app.call("GET", "/api/users/unknown/sessions")).status, 404);
});

Deno.test("GET /api/sessions lists the sessions of all users, or of one", async () => {
  using app = await usersApp();
  await login(app, "viewer@example.com");
  app.clock.advance({ seconds: 1 });
  await login(app, "operator@example.com");
  const list = async (query = "") =>
    (await app.call("GET", `/api/sessions${query}`)).body.sessions
      .map(({ userId, email }: { userId: string; email: string }) => [userId, email]);
  const viewer = [app.ids.viewer, "viewer@example.com"];
  deepEqual(await list(), [[app.ids.operator, "operator@example.com"], viewer]);
  deepEqual(await list(`?user=${app.ids.viewer}`), [viewer]);
  equal((await app.call("GET", "/api/sessions?user=unknown")).status, 404);
});

Deno.test("sessions of other users are for admins, and are 404 in key mode", async () => {
  using app = await usersApp();
  using byKey = testApp();
  const path = `/api/users/${app.ids.admin}/sessions`;
  for (const method of ["GET", "DELETE"]) {
    equal((await app.call(method, path, undefined, { role: "operator" })).status, 403);
    equal((await byKey.call(method, "/api/users/key/sessions")).status, 404);
  }
  equal((await app.call("GET", "/api/sessions", undefined, { role: "operator" })).status, 403);
  equal((await byKey.call("GET", "/api/sessions")).status, 404);
});

Deno.test("the sessions of the API key are listed and revoked in key mode", async () => {
  using app = testApp();
  const [mine, other] = [await loginByKey(app), await loginByKey(app)];
  const { sessions } = await sessionsOf(app, mine.accessToken);
  const { id } = sessions.find(({ current }: { current: boolean }) => !current);
  const token = mine.accessToken;
  equal(
    (await app.call("DELETE", `/api/account/sessions/${id}`, undefined, { token })).status,
    200,
  );
  equal(await statusWith(app, other.accessToken), 401);
  equal(await statusWith(app, token), 200);
});

Deno.test("an endless User-Agent is shortened", async () => {
  using app = testApp();
  const browser = testBrowser(app, "x".repeat(5_000));
  const { accessToken } = (await browser.signIn(undefined, { headers: OWN_PAGE })).body;
  const { sessions } = await sessionsOf(app, accessToken);
  equal(sessions[0].userAgent.length, 512);
});

Deno.test("new API tokens, replaced secrets and a changed email are events", async () => {
  using app = await usersApp();
  const events = collectEvents(app, (kind) => kind === "account.access_changed");
  const { accessToken: token } = await login(app, "viewer@example.com");
  const ci = { name: "ci", role: "viewer" };
  const { body: { id } } = await app.call("POST", "/api/tokens", ci, { token });
  equal((await app.call("POST", `/api/tokens/${id}/rotate`, {}, { token })).status, 200);
  equal((await put(app, "/api/account", { email: "ada@example.org" }, token)).status, 200);
  equal((await put(app, "/api/account", { name: "Ada" }, token)).status, 200);
  deepEqual(events.map(({ data }) => (data as { change: string }).change), [
    "API token ci created",
    "Secret of API token ci replaced",
    "Email changed from viewer@example.com",
  ]);
});
