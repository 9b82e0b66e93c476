import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { sweepExpiredTokens } from "../../services/access/sign_in/sessions.ts";
import { createLog } from "../../services/log.ts";
import { login, loginByKey, PASSWORD, refresh, statusWith, usersApp } from "../helpers/accounts.ts";
import { openTestDatabase, TEST_API_KEY, testApp } from "../helpers/test_app.ts";

const anyone = { role: "public" } as const;
const tryKey = (app: ReturnType<typeof testApp>, apiKey: string, address = "192.0.2.1") =>
  app.call("POST", "/auth/token", { apiKey }, { ...anyone, address });
const tryLogin = (
  app: ReturnType<typeof testApp>,
  email: string,
  password: string,
  address = "192.0.2.1",
) => app.call("POST", "/auth/login", { email, password }, { ...anyone, address });

Deno.test("POST /auth/token exchanges the API key for an admin's token pair", async () => {
  using app = testApp({ config: { serverName: "dock-1" } });

  const answer = await tryKey(app, TEST_API_KEY);

  equal(answer.status, 200);
  const { accessToken, refreshToken, ...rest } = answer.body;
  deepEqual(rest, { expiresIn: 900, role: "admin", serverName: "dock-1" });
  match(refreshToken, /^[\w-]{43}$/);
  equal(answer.headers.get("cache-control"), "no-store");
  deepEqual((await app.call("GET", "/auth/me", undefined, { token: accessToken })).body, {
    id: "key",
    email: null,
    role: "admin",
    createdAt: null,
    lastLoginAt: null,
  });
});

Deno.test("POST /auth/login exchanges email and password for a token pair, without case", async () => {
  using app = await usersApp({ now: "2026-02-03T04:05:06.789Z", config: { serverName: "dock-1" } });

  const answer = await tryLogin(app, "OPERATOR@Example.COM", PASSWORD);

  equal(answer.status, 200);
  const { accessToken, refreshToken: _, ...rest } = answer.body;
  deepEqual(rest, { expiresIn: 900, role: "operator", serverName: "dock-1" });
  deepEqual((await app.call("GET", "/auth/me", undefined, { token: accessToken })).body, {
    id: app.ids.operator,
    email: "operator@example.com",
    role: "operator",
    createdAt: "2026-02-03T04:05:06.789Z",
    lastLoginAt: "2026-02-03T04:05:06.789Z",
  });
});

Deno.test("the endpoints of the other mode answer 404 with the right endpoint", async () => {
  using byKey = testApp();
  using byUser = await usersApp();
  const login = await tryLogin(byKey, "a@b", PASSWORD);
  equal(login.status, 404);
  equal(login.body.error, "Users mode is off (AUTH_MODE=key); use POST /auth/token");
  const refused = await tryKey(byUser, TEST_API_KEY);
  equal(refused.status, 404);
  equal(refused.body.error, "Key mode is off (AUTH_MODE=users); use POST /auth/login");
});

Deno.test("a wrong key, a wrong password and an unknown email are the same 401", async () => {
  using byKey = testApp();
  using byUser = await usersApp();
  const key = await tryKey(byKey, `${TEST_API_KEY}x`);
  equal(key.status, 401);
  equal(key.headers.get("www-authenticate"), "Bearer");
  const known = await tryLogin(byUser, "admin@example.com", "wrong wrong wrong");
  const unknown = await tryLogin(byUser, "unknown@example.com", "wrong wrong wrong");
  deepEqual([known.status, known.body], [401, { error: "The email or the password is wrong" }]);
  deepEqual([unknown.status, unknown.body], [known.status, known.body]);
});

for (
  const [what, path, body, status, error] of [
    ["no body", "token", undefined, 400, /^body: is required$/],
    ["no key", "token", {}, 400, /^body\.apiKey: /],
    ["a number as key", "token", { apiKey: 1 }, 400, /apiKey/],
    ["an endless key", "token", { apiKey: "x".repeat(5_000) }, 400, /4096/],
    ["a list", "login", [], 400, /^body: /],
    ["no password", "login", { email: "a@b" }, 400, /^body\.password: /],
    ["an object as email", "login", { email: { $ne: null }, password: "x" }, 400, /^body\.email: /],
    ["a password over 256", "login", { email: "a@b", password: "x".repeat(257) }, 400, /256/],
    [
      "a body over 64 KiB",
      "login",
      { email: "a@b", password: "x".repeat(2 ** 16) },
      413,
      /65536 bytes/,
    ],
    [
      "no refresh token",
      "refresh",
      { refreshtoken: "x" },
      400,
      /^body\.refreshtoken: unknown field; did you mean refreshToken\?/,
    ],
  ] as const
) {
  Deno.test(`POST /auth/${path} answers ${status} to ${what}`, async () => {
    using app = testApp();
    const answer = await app.call("POST", `/auth/${path}`, body, anyone);
    equal(answer.status, status);
    deepEqual(Object.keys(answer.body), status === 400 ? ["error", "errors"] : ["error"]);
    match(answer.body.error, error);
  });
}

Deno.test("a body that is not JSON is 400, one of another type 415", async () => {
  using app = testApp();
  for (const [type, status] of [["application/json", 400], ["text/plain", 415]] as const) {
    const headers = { "content-type": type };
    const answer = await app.call("POST", "/auth/token", "{", { ...anyone, headers });
    equal(answer.status, status);
    deepEqual(Object.keys(answer.body), ["error"]);
  }
});

Deno.test("a login with unknown fields is 400, also with names that objects inherit", async () => {
  using app = testApp();
  const body = `{"apiKey":"${TEST_API_KEY}","role":"root","constructor":{},"__proto__":{}}`;
  const headers = { "content-type": "application/json" };
  const answer = await app.call("POST", "/auth/token", body, { ...anyone, headers });
  equal(answer.status, 400);
  deepEqual(
    answer.body.errors.map(({ path }: { path: string }) => path),
    ["body.role", "body.constructor", "body.__proto__"],
  );
});

Deno.test("a refresh token gives a new pair once, which continues the login", async () => {
  using app = testApp();
  const first = await loginByKey(app);

  const answer = await refresh(app, first.refreshToken);

  equal(answer.status, 200);
  deepEqual(Object.keys(answer.body).sort(), Object.keys(first).sort());
  notEqual(answer.body.refreshToken, first.refreshToken);
  notEqual(answer.body.accessToken, first.accessToken);
  equal(await statusWith(app, first.accessToken), 200, "the former access token goes on");
  equal(await statusWith(app, answer.body.accessToken), 200);
  equal((await refresh(app, answer.body.refreshToken)).status, 200);
});

Deno.test("a refresh token is valid for 30 days", async () => {
  using app = testApp();
  const [one, two] = [await loginByKey(app), await loginByKey(app)];
  app.clock.advance({ days: 30, ms: -1 });
  equal((await refresh(app, one.refreshToken)).status, 200);
  app.clock.advance({ ms: 1 });
  equal((await refresh(app, two.refreshToken)).status, 401);
});

Deno.test("an access token is not accepted as a refresh token, nor the reverse", async () => {
  using app = testApp();
  const { accessToken, refreshToken } = await loginByKey(app);
  equal((await refresh(app, accessToken.slice(0, 500))).status, 401);
  equal(await statusWith(app, refreshToken), 401);
});

Deno.test("POST /auth/logout ends this login, its access and refresh tokens, and no other", async () => {
  using app = await usersApp();
  const mine = await login(app, "viewer@example.com");
  const other = await login(app, "viewer@example.com");

  const answer = await app.call("POST", "/auth/logout", undefined, { token: mine.accessToken });

  deepEqual([answer.status, answer.body], [200, { ok: true }]);
  equal(await statusWith(app, mine.accessToken), 401);
  equal((await refresh(app, mine.refreshToken)).status, 401);
  equal(await statusWith(app, other.accessToken), 200);
});

Deno.test("POST /auth/logout works in key mode", async () => {
  using app = testApp();
  const { accessToken } = await loginByKey(app);
  const answer = await app.call("POST", "/auth/logout", undefined, { token: accessToken });
  equal(answer.status, 200);
  equal(await statusWith(app, accessToken), 401);
});

Deno.test("tokens and logouts survive a restart of the service", async () => {
  const db = openTestDatabase();
  try {
    using before = testApp({ db });
    const [kept, ended] = [await loginByKey(before), await loginByKey(before)];
    await before.call("POST", "/auth/logout", undefined, { token: ended.accessToken });

    using after = testApp({ db });
    equal(await statusWith(after, kept.accessToken), 200);
    equal(await statusWith(after, ended.accessToken), 401);
    equal((await refresh(after, kept.refreshToken)).status, 200);
  } finally {
    db.close();
  }
});

Deno.test("tokens of one mode are invalid in the other", async () => {
  const db = openTestDatabase();
  try {
    using byUser = await usersApp({ db });
    const user = await login(byUser, "admin@example.com");
    using byKey = testApp({ db });
    const key = await loginByKey(byKey);
    equal(await statusWith(byKey, user.accessToken), 401);
    equal((await refresh(byKey, user.refreshToken)).status, 401);
    equal(await statusWith(byUser, key.accessToken), 401);
    equal((await refresh(byUser, key.refreshToken)).status, 401);
  } finally {
    db.close();
  }
});

for (
  const { what, header } of [
    { what: "another scheme", header: "Basic YTpi" },
    { what: "no token", header: "Bearer" },
    { what: "an empty token", header: "Bearer " },
    { what: "two tokens", header: "Bearer a b" },
    { what: "a token in quotes", header: 'Bearer "a"' },
    { what: "the token alone", header: "TOKEN" },
    { what: "a token with a tail", header: "Bearer TOKEN, Bearer TOKEN" },
    { what: "an endless token", header: `Bearer ${"A".repeat(100_000)}` },
    { what: "a test's made-up caller written small", header: "made-up admin" },
  ]
) {
  Deno.test(`an Authorization header with ${what} is 401`, async () => {
    using app = testApp();
    const { accessToken } = await loginByKey(app);
    const headers = { authorization: header.replaceAll("TOKEN", accessToken) };
    const answer = await app.call("GET", "/auth/me", undefined, { headers });
    equal(answer.status, 401);
    equal(answer.headers.get("www-authenticate"), "Bearer");
  });
}

Deno.test("the scheme is case-insensitive and may be followed by several spaces", async () => {
  using app = testApp();
  const { accessToken } = await loginByKey(app);
  for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
    const headers = { authorization: scheme + accessToken };
    equal((await app.call("GET", "/auth/me", undefined, { headers })).status, 200);
  }
});

Deno.test("a login succeeds with an expired token in the header", async () => {
  using app = testApp();
  const answer = await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY }, { token: "old" });
  equal(answer.status, 200);
});

Deno.test("ten wrong keys within a minute block the address, also for the right key", async () => {
  using app = testApp();
  for (let n = 0; n < 10; n++) equal((await tryKey(app, `wrong ${n}`)).status, 401);

  const refused = await tryKey(app, TEST_API_KEY);

  equal(refused.status, 429);
  equal(refused.headers.get("retry-after"), "60");
  deepEqual(refused.body, { error: "Too many failed attempts; try again in 60 s" });
  equal(
    (await tryKey(app, TEST_API_KEY, "192.0.2.2")).status,
    200,
    "other addresses are not blocked",
  );
  app.clock.advance({ minutes: 1 });
  equal((await tryKey(app, TEST_API_KEY)).status, 200);
});

Deno.test("ten wrong passwords block an account, from any number of addresses", async () => {
  using app = await usersApp();
  for (let n = 0; n < 10; n++) {
    equal((await tryLogin(app, "Admin@example.com", "wrong", `198.51.100.${n}`)).status, 401);
  }
  equal((await tryLogin(app, "admin@example.com", PASSWORD, "203.0.113.1")).status, 429);
  equal((await tryLogin(app, "viewer@example.com", PASSWORD, "203.0.113.1")).status, 200);
  app.clock.advance({ minutes: 1 });
  equal((await tryLogin(app, "admin@example.com", PASSWORD, "203.0.113.1")).status, 200);
});

Deno.test("accounts that do not exist are throttled like those that do", async () => {
  using app = await usersApp();
  for (let n = 0; n < 10; n++) {
    equal((await tryLogin(app, "ghost@example.com", "wrong", `198.51.100.${n}`)).status, 401);
  }
  equal((await tryLogin(app, "ghost@example.com", "wrong", "203.0.113.1")).status, 429);
});

Deno.test("during an attack, an admin can log in from a recently used address", async () => {
  using app = await usersApp();
  const { refreshToken } = await login(app, "admin@example.com");
  app.deps.throttle.remember("203.0.113.9", "someone@example.com");
  for (let n = 0; n < 10; n++) {
    await tryLogin(app, "admin@example.com", "wrong", `198.51.100.${n}`);
  }
  equal((await tryLogin(app, "admin@example.com", PASSWORD, "203.0.113.9")).status, 429);
  equal((await tryLogin(app, "admin@example.com", PASSWORD)).status, 200);
  equal((await refresh(app, refreshToken, "203.0.113.9")).status, 200);
  equal((await tryLogin(app, "admin@example.com", PASSWORD, "203.0.113.9")).status, 200);
});

Deno.test("of a burst of wrong passwords, ten are checked", async () => {
  using app = await usersApp();
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => tryLogin(app, "admin@example.com", "wrong wrong wrong")),
  );
  equal(answers.filter(({ status }) => status === 401).length, 10);
  equal(answers.filter(({ status }) => status === 429).length, 30);
});

Deno.test("all logins of a burst of right passwords succeed", async () => {
  using app = await usersApp();
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => tryLogin(app, "admin@example.com", PASSWORD)),
  );
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});

Deno.test("failed refreshes count for the address only", async () => {
  using app = await usersApp();
  for (let n = 0; n < 10; n++) equal((await refresh(app, `forged ${n}`)).status, 401);
  equal((await refresh(app, "forged")).status, 429);
  equal((await tryLogin(app, "admin@example.com", PASSWORD)).status, 429);
  equal((await tryLogin(app, "admin@example.com", PASSWORD, "192.0.2.2")).status, 200);
});

Deno.test("invalid input does not count as a failed login", async () => {
  using app = testApp();
  for (let n = 0; n < 20; n++) await app.call("POST", "/auth/token", {}, anyone);
  equal((await tryKey(app, TEST_API_KEY)).status, 200);
});

Deno.test("no secret is stored in plain text or logged", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", now: () => new Date() }, (line) => {
    lines.push(line);
  });
  using app = await usersApp({ log });
  const pair = await login(app, "admin@example.com");
  await tryLogin(app, "admin@example.com", "a wrong password");
  const next = (await refresh(app, pair.refreshToken)).body;
  await refresh(app, pair.refreshToken);
  app.clock.advance({ seconds: 10 });
  await refresh(app, pair.refreshToken);

  const rows = ["users", "refresh_tokens", "revoked_families", "settings"]
    .flatMap((table) => app.deps.db.all(`SELECT * FROM ${table}`));
  const seen = JSON.stringify([lines, rows]);
  for (
    const secret of [
      PASSWORD,
      "a wrong password",
      pair.accessToken,
      pair.refreshToken,
      next.refreshToken,
      next.accessToken.split(".")[2],
    ]
  ) equal(seen.includes(secret), false);
  ok(lines.some((line) => line.includes("reused")));
});

Deno.test("expired tokens are deleted, valid ones stay", async () => {
  using app = testApp();
  const old = await loginByKey(app);
  app.clock.advance({ days: 29 });
  const next = (await refresh(app, old.refreshToken)).body;
  const other = await loginByKey(app);
  await app.call("POST", "/auth/logout", undefined, { token: other.accessToken });

  equal(sweepExpiredTokens(app.deps), 0);
  app.clock.advance({ days: 1 });
  equal(sweepExpiredTokens(app.deps), 2, "the spent token and the logout");
  equal((await refresh(app, next.refreshToken)).status, 200);
});

Deno.test("POST /api/stream/ticket gives a ticket to a user", async () => {
  using app = testApp();
  const answer = await app.call("POST", "/api/stream/ticket", undefined, { role: "viewer" });
  equal(answer.status, 200);
  match(answer.body.ticket, /^[\w-]{43}$/);
  equal((await app.call("POST", "/api/stream/ticket", undefined, anyone)).status, 401);
});
