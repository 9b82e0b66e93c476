import { deepEqual, equal } from "node:assert/strict";
import { PASSWORD, usersApp } from "../../../helpers/accounts.ts";
import { testBrowser } from "../../../helpers/browser_session.ts";
import { collectEvents, type TestApp, testApp } from "../../../helpers/test_app.ts";

const HOME = "192.0.2.1";
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";

/** Records the events of new sign-ins. */
const recorded = (app: TestApp) => collectEvents(app, (kind) => kind === "account.new_sign_in");

const signIn = (app: TestApp, email: string, userAgent: string, address = HOME) =>
  testBrowser(app, userAgent).signIn({ email, password: PASSWORD }, { address });

Deno.test("the first sign-in of an account is not new", async () => {
  using app = await usersApp();
  const events = recorded(app);
  await signIn(app, "viewer@example.com", FIREFOX);
  await signIn(app, "operator@example.com", FIREFOX, "198.51.100.7");
  deepEqual(events, []);
});

Deno.test("a sign-in from a new address is reported once", async () => {
  using app = await usersApp();
  const events = recorded(app);
  await signIn(app, "viewer@example.com", FIREFOX);
  const { accessToken: token } =
    (await signIn(app, "viewer@example.com", FIREFOX, "198.51.100.7")).body;
  await signIn(app, "viewer@example.com", FIREFOX, "198.51.100.7");
  await signIn(app, "viewer@example.com", FIREFOX);

  const { sessions } = (await app.call("GET", "/api/account/sessions", undefined, { token })).body;
  const { id } = sessions.find(({ current }: { current: boolean }) => current);
  deepEqual(events.map(({ data }) => data), [{
    account: "viewer@example.com",
    userId: app.ids.viewer,
    sessionId: id,
    address: "198.51.100.7",
    userAgent: FIREFOX,
  }]);
});

for (
  const [what, userAgent, address, isNew] of [
    ["another browser", "curl/8.0", HOME, true],
    ["another system", FIREFOX.replace("Linux", "Plan9"), HOME, true],
    ["an updated browser", FIREFOX.replaceAll("150.0", "151.0.2"), HOME, false],
  ] as const
) {
  Deno.test(`a sign-in with ${what} is ${isNew ? "" : "not "}reported`, async () => {
    using app = await usersApp();
    const events = recorded(app);
    await signIn(app, "viewer@example.com", FIREFOX);
    await signIn(app, "viewer@example.com", userAgent, address);
    equal(events.length, isNew ? 1 : 0);
  });
}

Deno.test("an address of the same /64 is known", async () => {
  using app = await usersApp();
  const events = recorded(app);
  for (const address of ["2001:db8::1", "2001:db8::abcd:2", "2001:db8:0:1::1"]) {
    await signIn(app, "viewer@example.com", FIREFOX, address);
  }
  deepEqual(events.map(({ data }) => (data as { address: string }).address), ["2001:db8:0:1::1"]);
});

Deno.test("a failed sign-in makes no client known", async () => {
  using app = await usersApp();
  const events = recorded(app);
  await signIn(app, "viewer@example.com", FIREFOX);
  const attacker = testBrowser(app, "curl/8.0");
  await attacker.signIn({ email: "viewer@example.com", password: "wrong wrong wrong" });
  await signIn(app, "viewer@example.com", "curl/8.0");
  equal(events.length, 1);
});

Deno.test("an exchange of the API key from a new address is reported", async () => {
  using app = testApp();
  const events = recorded(app);
  const body = { apiKey: app.deps.config.apiKey };
  await app.call("POST", "/auth/token", body, { role: "public" });
  await app.call("POST", "/auth/token", body, { role: "public", address: "198.51.100.7" });
  deepEqual(events.map(({ data }) => (data as { account: string }).account), ["key"]);
});

Deno.test("webhooks receive the event", async () => {
  using app = await usersApp();
  const webhook = await app.call("POST", "/api/webhooks", {
    name: "Audit",
    url: "https://hooks.example.org/x",
    events: ["account.new_sign_in"],
  });
  equal(webhook.status, 201, webhook.body.error);
  await signIn(app, "viewer@example.com", FIREFOX);
  await signIn(app, "viewer@example.com", "curl/8.0");
  const kinds = app.deps.db.all<{ kind: string }>(
    "SELECT event_kind AS kind FROM outbox_messages WHERE channel = 'webhook'",
  );
  deepEqual(kinds, [{ kind: "account.new_sign_in" }]);
});

Deno.test("at most 200 clients are remembered for each account", async () => {
  using app = testApp();
  for (let n = 0; n < 202; n++) {
    app.clock.advance({ seconds: 1 });
    const body = { apiKey: app.deps.config.apiKey };
    const address = `198.51.100.${n}`;
    await app.call("POST", "/auth/token", body, { role: "public", address });
  }
  const rows = app.deps.db.all<{ network: string }>(
    "SELECT network FROM known_clients ORDER BY seen_at",
  );
  deepEqual([rows.length, rows[0]?.network], [200, "198.51.100.2"]);
});

Deno.test("a deleted user's clients are forgotten", async () => {
  using app = await usersApp();
  await signIn(app, "viewer@example.com", FIREFOX);
  await app.call("DELETE", `/auth/users/${app.ids.viewer}`);
  deepEqual(app.deps.db.all("SELECT * FROM known_clients"), []);
});
