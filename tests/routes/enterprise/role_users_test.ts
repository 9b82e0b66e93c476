import { deepEqual, equal, match } from "node:assert/strict";
import { openStateDatabase } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import { stateMigrations } from "../../../db/migrations/state/mod.ts";
import { login, PASSWORD, usersApp } from "../../helpers/accounts.ts";
import { testBrowser } from "../../helpers/browser_session.ts";
import { appWithRights, createRole, grant, groups, ROLES } from "../../helpers/custom_roles.ts";
import { sseClient } from "../../helpers/sse_client.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("assigning a role a second time changes nothing", async () => {
  using app = await usersApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
  const role = await createRole(app, "Night", ["containers:start"]);
  const body = { user_id: app.ids.viewer };

  const first = await app.call("POST", `${ROLES}/${role}/users`, body);
  app.clock.advance({ minutes: 5 });
  const second = await app.call("POST", `${ROLES}/${role}/users`, body);

  const assignment = {
    ok: true,
    user_id: app.ids.viewer,
    role_id: role,
    assigned_at: "2026-01-01T12:00:00.000Z",
    assigned_by: "key",
  };
  deepEqual([first.status, first.body], [200, { ...assignment, changed: true }]);
  deepEqual([second.status, second.body], [200, { ...assignment, changed: false }]);
  const [{ action, target }] = (await app.call("GET", "/api/audit")).body.entries;
  deepEqual([action, target], [`POST ${ROLES}/:id/users`, `${role} ${app.ids.viewer}`]);
  equal((await app.call("GET", `${ROLES}/${role}`)).body.user_count, 1);
  equal((await app.call("GET", ROLES)).body.roles[0].user_count, 1);
});

Deno.test("GET /roles/:id/users is paged, newest assignment first", async () => {
  using app = await usersApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
  const role = await createRole(app, "Night", []);
  for (const name of ["viewer", "admin", "operator"] as const) {
    await app.call("POST", `${ROLES}/${role}/users`, { user_id: app.ids[name] });
    app.clock.advance({ minutes: 1 });
  }

  const { users, ...page } = (await app.call("GET", `${ROLES}/${role}/users`)).body;
  deepEqual(users.map(({ email }: { email: string }) => email), [
    "operator@example.com",
    "admin@example.com",
    "viewer@example.com",
  ]);
  deepEqual(page, { total: 3, limit: 100, offset: 0 });
  deepEqual(users[2], {
    user_id: app.ids.viewer,
    email: "viewer@example.com",
    assigned_at: "2026-01-01T12:00:00.000Z",
    assigned_by: "key",
  });
  const second = (await app.call("GET", `${ROLES}/${role}/users?limit=1&offset=1`)).body;
  deepEqual([second.users, second.total], [[users[1]], 3]);
});

for (
  const [what, path, body, error] of [
    ["an unknown role", `${ROLES}/none/users`, { user_id: "VIEWER" }, "Role none does not exist"],
    [
      "an unknown user",
      `${ROLES}/ROLE/users`,
      { user_id: "unknown" },
      "User unknown does not exist",
    ],
    [
      "the caller of key mode in users mode",
      `${ROLES}/ROLE/users`,
      { user_id: "key" },
      "User key does not exist",
    ],
    [
      "the scraper without METRICS_TOKEN",
      `${ROLES}/ROLE/users`,
      { user_id: "metrics" },
      "User metrics does not exist",
    ],
  ] as const
) {
  Deno.test(`assigning to ${what} is 404`, async () => {
    using app = await usersApp({ edition: "enterprise" });
    const role = await createRole(app, "Night", []);
    const answer = await app.call("POST", path.replace("ROLE", role), {
      user_id: body.user_id.replace("VIEWER", app.ids.viewer),
    });
    deepEqual([answer.status, answer.body], [404, { error }]);
  });
}

for (const body of [{}, { user_id: "" }, { user_id: 7 }, { user_id: "u".repeat(256) }]) {
  Deno.test(`assigning to ${JSON.stringify(body).slice(0, 30)} is 400`, async () => {
    using app = await usersApp({ edition: "enterprise" });
    const role = await createRole(app, "Night", []);
    const answer = await app.call("POST", `${ROLES}/${role}/users`, body);
    equal(answer.status, 400);
    match(answer.body.error, /^body\.user_id: /);
  });
}

Deno.test("DELETE takes a role from a user, and is 404 for one who does not have it", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const role = await grant(app, app.ids.viewer, ["containers:start"]);
  const gone = await app.call("DELETE", `${ROLES}/${role}/users/${app.ids.viewer}`);
  deepEqual([gone.status, gone.body], [200, { ok: true }]);
  const again = await app.call("DELETE", `${ROLES}/${role}/users/${app.ids.viewer}`);
  deepEqual([again.status, again.body], [404, {
    error: `User ${app.ids.viewer} does not have the role containers:start`,
  }]);
  equal((await app.call("DELETE", `${ROLES}/none/users/${app.ids.viewer}`)).status, 404);
  equal((await app.call("GET", `${ROLES}/none/users`)).status, 404);
});

// Every way to lose a permission, and the next request.
for (
  const { how, end } of [
    {
      how: "the role's permissions are changed",
      end: ["PUT", `${ROLES}/ROLE`, { permissions: groups(["containers:stop"]) }],
    },
    { how: "the role is unassigned", end: ["DELETE", `${ROLES}/ROLE/users/VIEWER`] },
    { how: "the role is deleted", end: ["DELETE", `${ROLES}/ROLE`] },
    { how: "the user is deleted", end: ["DELETE", "/auth/users/VIEWER"], status: 401 },
  ] as { how: string; end: [string, string, unknown?]; status?: number }[]
) {
  Deno.test(`a permission ends at the next request when ${how}`, async () => {
    using app = await appWithRights();
    const start = () => app.asViewer("POST", "/api/containers/web/start");
    equal((await start()).status, 403);
    const role = await grant(app, app.ids.viewer, ["containers:start"]);
    equal((await start()).status, 503, "past the access check; the engine is unreachable");

    const [method, path, body] = end;
    const real = path.replace("ROLE", role).replace("VIEWER", app.ids.viewer);
    const done = await app.call(method, real, body);
    equal(done.status, 200, done.body.error);

    equal((await start()).status, path.startsWith("/auth") ? 401 : 403);
    equal(
      (await app.call("GET", ROLES)).body.roles[0]?.user_count ?? 0,
      how.includes("perm") ? 1 : 0,
    );
  });
}

Deno.test("a permission added to a role applies to the next request", async () => {
  using app = await appWithRights("sla:read");
  const [{ id }] = (await app.call("GET", ROLES)).body.roles;
  equal((await app.asViewer("GET", "/api/webhooks")).status, 403);
  await app.call("PUT", `${ROLES}/${id}`, { permissions: groups(["webhooks:read"]) });
  equal((await app.asViewer("GET", "/api/webhooks")).status, 200);
});

Deno.test("a permission ends at the next request when another process removes it", async () => {
  const file = await Deno.makeTempFile({ prefix: "ls-roles-", suffix: ".sqlite" });
  await Deno.remove(file);
  const db = openStateDatabase(file);
  migrate(db, stateMigrations);
  const other = openStateDatabase(file);
  try {
    using app = await usersApp({ edition: "enterprise", db });
    await grant(app, app.ids.viewer, ["webhooks:read"]);
    const { accessToken: token } = await login(app, "viewer@example.com");
    const read = async () => (await app.call("GET", "/api/webhooks", undefined, { token })).status;
    equal(await read(), 200);
    other.run("DELETE FROM custom_role_assignments");
    equal(await read(), 403);
  } finally {
    other.close();
    db.close();
    for (const suffix of ["", "-wal", "-shm"]) {
      await Deno.remove(file + suffix).catch(() => {});
    }
  }
});

Deno.test("custom roles grant nothing without the license, and the same as before with it", async () => {
  using app = await appWithRights("webhooks:read");
  const grantOf = (edition: "pro" | "enterprise") => ({
    customer: "test",
    edition,
    expiresAt: new Date("2999-01-01T00:00:00Z"),
    limits: {},
  });
  equal((await app.asViewer("GET", "/api/webhooks")).status, 200);
  app.deps.license.use(grantOf("pro"));
  equal((await app.asViewer("GET", "/api/webhooks")).status, 403);
  app.deps.license.use(grantOf("enterprise"));
  equal((await app.asViewer("GET", "/api/webhooks")).status, 200);
});

Deno.test("an open stream outlives a custom role and ends with the user", async () => {
  using app = await appWithRights("system:read");
  const { accessToken: token } = await login(app, "viewer@example.com");
  const response = await app.fetch("GET", "/api/stream?types=alerts", undefined, { token });
  const client = sseClient(response.body!);
  equal((await client.next())?.type, "alerts");
  const [{ id }] = (await app.call("GET", ROLES)).body.roles;

  await app.call("DELETE", `${ROLES}/${id}`);
  app.deps.stream.setState("alerts", "next", { firing: [], recent: [] });
  await app.deps.stream.broadcast();
  equal((await client.next())?.type, "alerts");

  await app.call("DELETE", `/auth/users/${app.ids.viewer}`);
  await app.deps.stream.broadcast();
  deepEqual(await client.rest(), []);
});

Deno.test("the check shows the permissions of custom roles, not of the built-in role", async () => {
  using app = await usersApp({ edition: "enterprise" });
  for (
    const [name, priority, permissions] of [
      ["low", 1, ["sla:read", "containers:stop"]],
      ["b high", 9, ["containers:start", "containers:stop"]],
      ["A high", 9, ["*:read"]],
      ["another role's", 99, ["users:write"]],
    ] as const
  ) {
    const created = await app.call("POST", ROLES, {
      name,
      priority,
      permissions: groups(permissions),
    });
    const user_id = priority === 99 ? app.ids.operator : app.ids.viewer;
    await app.call("POST", `${ROLES}/${created.body.id}/users`, { user_id });
  }

  const { status, body } = await app.call("GET", `${ROLES}/users/${app.ids.viewer}/check`);
  deepEqual([status, body], [200, {
    user_id: app.ids.viewer,
    roles: ["A high", "b high", "low"],
    permissions: { "*": ["read"], containers: ["start", "stop"], sla: ["read"] },
    has_permission: null,
  }]);
});

for (
  const { user, granted = [], asked, has } of [
    { user: "viewer", asked: "containers:read", has: true },
    { user: "viewer", asked: "containers:logs", has: true },
    { user: "viewer", asked: "containers:start", has: false },
    { user: "viewer", granted: ["containers:start"], asked: "containers:start", has: true },
    { user: "viewer", granted: ["containers:start"], asked: "containers:stop", has: false },
    { user: "viewer", granted: ["containers:*"], asked: "containers:exec", has: true },
    { user: "viewer", granted: ["containers:*"], asked: "stacks:start", has: false },
    { user: "viewer", granted: ["*:write"], asked: "sla:write", has: true },
    { user: "viewer", granted: ["*:write"], asked: "users:read", has: false },
    { user: "viewer", granted: ["*:*"], asked: "encryption:write", has: true },
    { user: "viewer", granted: ["*:*"], asked: "*:*", has: true },
    { user: "viewer", granted: ["sla:write"], asked: "*:*", has: false },
    { user: "operator", asked: "containers:start", has: true },
    { user: "operator", asked: "stacks:start", has: false },
    // An operator may open an incident, but not delete one.
    { user: "operator", asked: "incidents:write", has: false },
    { user: "admin", asked: "encryption:write", has: true },
    { user: "admin", asked: "*:*", has: true },
  ] as const
) {
  const whose = granted.length > 0 ? `a ${user} with ${granted}` : `a plain ${user}`;
  Deno.test(`the check of ${asked} says ${has} for ${whose}`, async () => {
    using app = await usersApp({ edition: "enterprise" });
    if (granted.length > 0) await grant(app, app.ids[user], granted);
    const [resource, action] = asked.split(":");
    const path = `${ROLES}/users/${app.ids[user]}/check?resource=${resource}&action=${action}`;
    equal((await app.call("GET", path)).body.has_permission, has);
  });
}

Deno.test("the check answers null for a resource without an action, and 400 for an unknown one", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const check = (query: string) => app.call("GET", `${ROLES}/users/${app.ids.admin}/check${query}`);
  equal((await check("?resource=sla")).body.has_permission, null);
  equal((await check("?action=read")).body.has_permission, null);
  match(
    (await check("?resource=rockets&action=read")).body.error,
    /^query\.resource: must be one of/,
  );
  match((await check("?resource=sla&action=launch")).body.error, /^query\.action: must be one of/);
  const none = await app.call("GET", `${ROLES}/users/unknown/check`);
  deepEqual([none.status, none.body], [404, { error: "User unknown does not exist" }]);
});

Deno.test("in key mode the user is key, an admin who can be assigned a role", async () => {
  using app = testApp({ edition: "enterprise" });
  const role = await grant(app, "key", ["sla:read"]);
  const check = `${ROLES}/users/key/check`;
  deepEqual((await app.call("GET", `${check}?resource=users&action=write`)).body, {
    user_id: "key",
    roles: ["sla:read"],
    permissions: { sla: ["read"] },
    has_permission: true,
  });
  const { users } = (await app.call("GET", `${ROLES}/${role}/users`)).body;
  deepEqual([users[0].user_id, users[0].email], ["key", null]);
  equal((await app.call("GET", `${ROLES}/users/unknown/check`)).status, 404);
});

Deno.test("METRICS_TOKEN gives access only to the metrics, whatever roles its user has", async () => {
  using app = testApp({ edition: "enterprise", config: { metricsToken: "scrape" } });
  await grant(app, "metrics", ["webhooks:read"]);
  const { body } = await app.call(
    "GET",
    `${ROLES}/users/metrics/check?resource=users&action=write`,
  );
  equal(body.has_permission, false);
  equal((await app.call("GET", "/metrics", undefined, { token: "scrape" })).status, 200);
  equal((await app.call("GET", "/api/webhooks", undefined, { token: "scrape" })).status, 401);
});

Deno.test("the session of a browser says what custom roles grant its user now", async () => {
  using app = await appWithRights("containers:restart", "volumes:*");
  const browser = testBrowser(app);
  const signedIn = await browser.signIn({ email: "viewer@example.com", password: PASSWORD });
  deepEqual(signedIn.body.permissions, [
    "containers:restart",
    ...["volumes:read", "volumes:write", "volumes:delete", "volumes:prune"],
  ]);

  await grant(app, app.ids.viewer, ["sla:write"]);
  const refreshed = await browser.refresh();
  equal(refreshed.body.permissions.at(-1), "sla:write");
});
