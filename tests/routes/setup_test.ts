import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { applySetup } from "../../services/access/setup/setup.ts";
import { loginByKey, PASSWORD, statusWith } from "../helpers/accounts.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const ADA = { name: "Ada", email: "ada@example.com", password: PASSWORD };

/** A server without any way to sign in. */
const newServer = () => testApp({ config: { apiKey: null } });

const setUp = (
  app: TestApp,
  body: object,
  headers: Record<string, string> = {},
  address?: string,
) =>
  app.call("POST", "/auth/setup", { code: app.deps.setupCode.text, ...body }, {
    role: "public",
    headers,
    ...(address !== undefined && { address }),
  });

const stateOf = async (app: TestApp) =>
  (await app.call("GET", "/auth/setup", undefined, { role: "public" })).body;

Deno.test("a new server accepts no credentials until it is set up", async () => {
  using app = newServer();

  match(app.deps.setupCode.text, /^([2-9A-HJ-NP-Z]{4}-){2}[2-9A-HJ-NP-Z]{4}$/);
  deepEqual(await stateOf(app), { required: true, codeInForce: true });
  const anonymous = { role: "public" } as const;
  equal((await app.call("GET", "/api/containers", undefined, anonymous)).status, 401);
  const key = await app.call("POST", "/auth/token", { apiKey: "anything" }, anonymous);
  equal(key.status, 401);
});

Deno.test("the setup creates the first account, signs in, and is over", async () => {
  using app = newServer();
  const answer = await setUp(app, { account: ADA });

  equal(answer.status, 200);
  equal(answer.body.role, "admin");
  equal(await statusWith(app, answer.body.accessToken), 200);
  deepEqual(await stateOf(app), { required: false, codeInForce: false });
  const account = await app.call("GET", "/api/account", undefined, {
    token: answer.body.accessToken,
  });
  const { mode, name, email, role } = account.body;
  deepEqual({ mode, name, email, role }, {
    mode: "users",
    name: "Ada",
    email: "ada@example.com",
    role: "admin",
  });
  const { email: user, password } = ADA;
  const login = await app.call("POST", "/auth/login", { email: user, password }, {
    role: "public",
  });
  equal(login.status, 200);
  const replayed = await setUp(app, { account: { ...ADA, email: "eve@example.com" } });
  equal(replayed.status, 409);
  equal(replayed.body.error, "This server is set up already; sign in");
});

Deno.test("the setup creates the API key and shows it once", async () => {
  using app = newServer();
  const { body } = await setUp(app, { key: true });

  match(body.key, /^lsk_[\w-]{43}$/);
  equal(await statusWith(app, body.accessToken), 200);
  const login = await app.call("POST", "/auth/token", { apiKey: body.key }, { role: "public" });
  equal(login.status, 200);
  equal((await app.call("GET", "/api/account")).body.mode, "key");
});

Deno.test("a page that sets the server up gets a session of a browser", async () => {
  using app = newServer();
  const { status, headers, body } = await setUp(app, { account: ADA }, {
    "x-page-secret": "s".repeat(43),
  });

  equal(status, 200);
  equal(body.refreshToken, undefined);
  match(headers.get("set-cookie")!, /^longshore-[\w-]{16}=[\w-]{43}; Path=\/auth\/session; /);
});

Deno.test("a code may be typed in lower case and without hyphens", async () => {
  using app = newServer();
  const code = app.deps.setupCode.text.toLowerCase().replaceAll("-", "");
  equal((await setUp(app, { code, key: true })).status, 200);
});

Deno.test("malformed codes, unacceptable accounts and other sites do not count as wrong codes", async () => {
  using app = newServer();
  const refused = [
    await setUp(app, { code: "K7QF-2MXA", key: true }),
    await setUp(app, { code: "0000-OOOO-1111", key: true }),
    await setUp(app, { account: { ...ADA, password: "short" } }),
    await setUp(app, { account: ADA, key: true }),
    await setUp(app, { key: true }, { origin: "http://elsewhere.test" }),
    await setUp(app, { key: true }, { "sec-fetch-site": "same-site" }),
  ];
  deepEqual(refused.map(({ status }) => status), [400, 400, 400, 400, 403, 403]);

  for (let failure = 0; failure < 9; failure++) {
    const answer = await setUp(
      app,
      { code: "2222-2222-2222", key: true },
      {},
      `198.51.100.${failure}`,
    );
    equal(answer.body.error, "The setup code is wrong");
  }
  equal((await stateOf(app)).codeInForce, true);
  const tenth = await setUp(app, { code: "2222-2222-2222", key: true }, {}, "203.0.113.1");
  equal(tenth.status, 401);
  match(tenth.body.error, /^The setup code has ended after 10 wrong codes; restart the service/);
  equal((await setUp(app, { key: true }, {}, "203.0.113.2")).status, 401);
  deepEqual(await stateOf(app), { required: true, codeInForce: false });
});

Deno.test("guessing from one address is slowed down like sign-in", async () => {
  using app = newServer();
  app.deps.throttle.begin("203.0.113.9");
  for (let failure = 1; failure < 10; failure++) app.deps.throttle.begin("203.0.113.9");
  const answer = await setUp(app, { key: true }, {}, "203.0.113.9");
  equal(answer.status, 429);
  notEqual(answer.headers.get("retry-after"), null);
  equal((await setUp(app, { key: true }, {}, "203.0.113.10")).status, 200);
});

Deno.test("a code expires after an hour", async () => {
  using app = newServer();
  app.clock.advance({ minutes: 60 });
  const answer = await setUp(app, { key: true });
  equal(answer.status, 401);
  match(answer.body.error, /^The setup code has expired; restart the service/);
});

Deno.test("of two browsers that use the code at once, one sets the server up", async () => {
  using app = newServer();
  const answers = await Promise.all([
    setUp(app, { account: ADA }),
    setUp(app, { account: { ...ADA, email: "eve@example.com" } }),
  ]);
  deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  equal((await app.call("GET", "/auth/users")).body.users.length, 1);
});

Deno.test("a setup on the command line meanwhile wins", async () => {
  using app = newServer();
  const { hash } = app.deps.passwords;
  app.deps.passwords.hash = async (password) => {
    await applySetup(app.deps, { key: true });
    return await hash(password);
  };
  equal((await setUp(app, { account: ADA })).status, 409);
  equal((await app.call("GET", "/api/account")).body.mode, "key");
});

for (
  const [name, config] of Object.entries(
    {
      AUTH_MODE: { apiKey: null, authMode: "key" },
      API_KEY: { apiKey: "a key of the environment" },
      ADMIN_EMAIL: { apiKey: null, adminEmail: "ada@example.com" },
    } as const,
  )
) {
  Deno.test(`${name} replaces the setup`, async () => {
    using app = testApp({ config });
    deepEqual(await stateOf(app), { required: false, codeInForce: false });
    equal((await setUp(app, { key: true })).status, 409);
  });
}

Deno.test("a change to users mode ends the key and keeps its API tokens", async () => {
  using app = newServer();
  const { body: { key, accessToken } } = await setUp(app, { key: true });
  const created = await app.call("POST", "/api/tokens", { name: "CI", role: "viewer" }, {
    token: accessToken,
  });
  equal(created.status, 201);

  const answer = await app.call("POST", "/api/settings/users-mode", { account: ADA }, {
    token: accessToken,
  });

  equal(answer.status, 201);
  equal(answer.body.role, "admin");
  equal(await statusWith(app, accessToken), 401);
  const login = await app.call("POST", "/auth/token", { apiKey: key }, { role: "public" });
  equal(login.status, 404);
  equal(await statusWith(app, created.body.token), 200);
  const { email, password } = ADA;
  const signIn = await app.call("POST", "/auth/login", { email, password }, { role: "public" });
  equal(signIn.status, 200);
  const again = await app.call("POST", "/api/settings/users-mode", { account: ADA }, {
    token: signIn.body.accessToken,
  });
  equal(again.body.error, "Users mode is on already");
});

Deno.test("a change to users mode is refused to others than admins who signed in, and against the environment", async () => {
  using app = testApp();
  const change = (options: object) =>
    app.call("POST", "/api/settings/users-mode", { account: ADA }, options);
  equal((await change({ role: "public" })).status, 401);
  equal((await change({ role: "operator" })).status, 403);
  const { accessToken } = await loginByKey(app);
  const answer = await change({ token: accessToken });
  equal(answer.status, 409);
  equal(
    answer.body.error,
    "API_KEY demands key mode: remove it from the environment and restart the service",
  );
});

Deno.test("first steps are done one after the other", async () => {
  using app = testApp();
  const progress = async () => {
    const { status, body } = await app.call("GET", "/api/setup/progress");
    equal(status, 200);
    return body.filter(({ done }: { done: boolean }) => !done).map(({ id }: { id: string }) => id);
  };
  equal((await progress())[0], "takeover", "the engine has not been read yet");
  app.deps.inventory.setLive(true);
  deepEqual(await progress(), ["channel", "alerts", "update-checks", "access", "backup"]);

  const config = { url: "https://hooks.example.com/x" };
  const channel = { name: "Ops", kind: "webhook", config, events: ["*"] };
  equal((await app.call("POST", "/api/notifications/channels", channel)).status, 201);
  const { body: { templates } } = await app.call("GET", "/api/alerts/templates");
  equal((await app.call("POST", "/api/alerts/rules", templates[0].rule)).status, 201);
  equal((await app.call("PUT", "/api/updates/settings", { enabled: true })).status, 200);
  equal((await app.call("POST", "/api/tokens", { name: "CI", role: "viewer" })).status, 201);
  deepEqual(await progress(), ["backup"]);
  equal(
    (await app.call("GET", "/api/setup/progress", undefined, { role: "operator" })).status,
    403,
  );
});

Deno.test("first steps are hidden and shown for all admins, by those who may change settings", async () => {
  using app = testApp();
  const guide = async () => (await app.call("GET", "/api/setup/guide")).body;
  deepEqual(await guide(), { shown: true });
  equal((await app.call("PUT", "/api/setup/guide", { shown: false })).status, 200);
  deepEqual(await guide(), { shown: false });
  equal(app.deps.changes.counts["/api/setup/guide"], 1);
  equal((await app.call("PUT", "/api/setup/guide", { shown: true })).status, 200);
  deepEqual(await guide(), { shown: true });
  equal((await app.call("PUT", "/api/setup/guide", {})).status, 400);
  const role = "operator";
  equal((await app.call("GET", "/api/setup/guide", undefined, { role })).status, 403);
  equal((await app.call("PUT", "/api/setup/guide", { shown: false }, { role })).status, 403);
});
