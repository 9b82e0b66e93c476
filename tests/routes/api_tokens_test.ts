import { deepEqual, equal, match } from "node:assert/strict";
import { forwardEvents } from "../../services/live/broadcaster.ts";
import { emit } from "../../services/events/emit.ts";
import { login, statusWith, usersApp } from "../helpers/accounts.ts";
import { grant } from "../helpers/custom_roles.ts";
import { idOf, setContainers } from "../helpers/fake_containers.ts";
import { sseClient } from "../helpers/sse_client.ts";
import { TEST_API_KEY, type TestApp, testApp } from "../helpers/test_app.ts";

const CI = { name: "CI", role: "operator" };

/** Creates a token as the holder of the API key, or as a user with a login. */
async function issue(app: TestApp, settings: Record<string, unknown> = {}, login?: string) {
  const body = { ...CI, ...settings };
  const { status, body: created } = await app.call("POST", "/api/tokens", body, { token: login });
  equal(status, 201, created.error);
  return created as { id: string; token: string };
}

Deno.test("POST /api/tokens returns the secret once, and stores only its hash", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const created = await app.call("POST", "/api/tokens", {
    ...CI,
    permissions: ["containers:restart", "containers:restart"],
    stacks: ["shop"],
    expiresAt: "2026-01-02T13:00:00+01:00",
  });
  const { token, ...shown } = created.body;

  equal(created.status, 201);
  match(token, /^lst_/);
  deepEqual(shown, {
    ...CI,
    id: shown.id,
    userId: "key",
    permissions: ["containers:restart"],
    stacks: ["shop"],
    containers: null,
    hosts: null,
    hostLabels: null,
    createdAt: "2026-01-01T12:00:00.000Z",
    rotatedAt: null,
    expiresAt: "2026-01-02T12:00:00.000Z",
    lastUsedAt: null,
    lastUsedAddress: null,
    isSuspended: false,
  });
  deepEqual((await app.call("GET", "/api/tokens")).body, { tokens: [shown] });
  const rows = JSON.stringify(app.deps.db.all("SELECT * FROM api_tokens"));
  equal(rows.includes(token.slice(4, 40)), false);
});

for (
  const [change, error] of [
    [{ name: "" }, /^body\.name: /],
    [{ role: "owner" }, /^body\.role: /],
    [{ permissions: [] }, /^body\.permissions: /],
    [{ permissions: ["containers:*"] }, /^body\.permissions\.0: /],
    [{ stacks: [""] }, /^body\.stacks\.0: must be a name/],
    [{ containers: ["a/b"] }, /^body\.containers\.0: must be a name/],
    [{ hostLabels: ["Site=kiel"] }, /^body\.hostLabels\.0: must be key or key=value/],
    [{ expiresAt: "2025-12-31T00:00:00Z" }, /^body\.expiresAt: must be in the future$/],
    [{ expiresAt: "tomorrow" }, /^body\.expiresAt: /],
  ] as const
) {
  Deno.test(`POST /api/tokens refuses ${JSON.stringify(change)}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", "/api/tokens", { ...CI, ...change });
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("an API token is accepted as a bearer token until it is revoked", async () => {
  using app = testApp();
  const { id, token } = await issue(app);
  equal(await statusWith(app, token), 200);
  const me = await app.call("GET", "/auth/me", undefined, { token });
  deepEqual([me.body.id, me.body.role], ["key", "operator"]);
  // The role of the token, not that of its owner, is checked.
  equal((await app.call("GET", "/api/audit", undefined, { token })).status, 403);

  equal((await app.call("DELETE", `/api/tokens/${id}`)).status, 200);
  equal(await statusWith(app, token), 401);
  equal((await app.call("DELETE", `/api/tokens/${id}`)).status, 404);
});

Deno.test("POST /api/tokens/:id/rotate replaces the secret and keeps the settings", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { id, token } = await issue(app, { containers: ["web*"] });
  const { status, body } = await app.call("POST", `/api/tokens/${id}/rotate`);
  deepEqual([status, body.id, body.containers, body.rotatedAt], [
    200,
    id,
    ["web*"],
    "2026-01-01T12:00:00.000Z",
  ]);
  equal(await statusWith(app, token), 401);
  equal(await statusWith(app, body.token), 200);
  equal((await app.call("POST", "/api/tokens/unknown/rotate")).status, 404);
});

Deno.test("an API token expires", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { id, token } = await issue(app, { expiresAt: "2026-01-01T13:00:00Z" });
  app.clock.set("2026-01-01T12:59:59Z");
  equal(await statusWith(app, token), 200);
  app.clock.set("2026-01-01T13:00:00Z");
  equal(await statusWith(app, token), 401);
  const rotated = await app.call("POST", `/api/tokens/${id}/rotate`);
  deepEqual([rotated.status, rotated.body.error], [
    409,
    "API token CI has expired; create a new one",
  ]);
});

Deno.test("the last use of a token is stored once a minute", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { token } = await issue(app);
  const use = async (address: string) => {
    await app.call("GET", "/auth/me", undefined, { token, address });
    const [shown] = (await app.call("GET", "/api/tokens")).body.tokens;
    return [shown.lastUsedAt, shown.lastUsedAddress];
  };
  deepEqual(await use("192.0.2.7"), ["2026-01-01T12:00:00.000Z", "192.0.2.7"]);
  app.clock.advance({ seconds: 59 });
  deepEqual(await use("192.0.2.8"), ["2026-01-01T12:00:00.000Z", "192.0.2.7"]);
  app.clock.advance({ seconds: 1 });
  deepEqual(await use("192.0.2.8"), ["2026-01-01T12:01:00.000Z", "192.0.2.8"]);
});

Deno.test("wrong API tokens are refused without a hint", async () => {
  using app = testApp();
  const { token } = await issue(app);
  const refused = async (given: string) => {
    const { status, body, headers } = await app.call("GET", "/auth/me", undefined, {
      token: given,
    });
    return [status, body.error, headers.get("www-authenticate")];
  };
  const changed = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
  const unknown = `lst_${"A".repeat(43)}w8UP8w`;
  const expected = [401, "The API token is not valid, was revoked, or has expired", "Bearer"];
  for (const wrong of [changed, unknown, "lst_", token.slice(0, -1), token + "A"]) {
    deepEqual(await refused(wrong), expected, wrong);
  }
});

Deno.test("an account has at most 50 tokens", async () => {
  using app = testApp();
  for (let n = 0; n < 50; n++) await issue(app);
  const { status, body } = await app.call("POST", "/api/tokens", CI);
  deepEqual([status, body.error], [409, "Limit of 50 API tokens reached; delete one first"]);
});

Deno.test("a token never exceeds the current role of its owner", async () => {
  using app = await usersApp();
  const { accessToken } = await login(app, "operator@example.com");
  const above = await app.call("POST", "/api/tokens", { name: "x", role: "admin" }, {
    token: accessToken,
  });
  equal(above.status, 403);
  const { token } = await issue(app, {}, accessToken);
  const roleOf = async () => (await app.call("GET", "/auth/me", undefined, { token })).body.role;
  const bulk = () =>
    app.call("POST", "/api/containers/bulk", { ids: ["x"], action: "stop" }, { token });

  equal((await bulk()).status, 503); // the role suffices, but there is no engine
  await app.call("PUT", `/auth/users/${app.ids.operator}/role`, { role: "viewer" });
  equal((await bulk()).status, 403);
  equal(await roleOf(), "viewer");
  await app.call("PUT", `/auth/users/${app.ids.operator}/role`, { role: "admin" });
  equal((await bulk()).status, 503);
  equal((await app.call("GET", "/api/audit", undefined, { token })).status, 403);
  await app.call("DELETE", `/auth/users/${app.ids.operator}`);
  equal(await statusWith(app, token), 401);
  equal(app.deps.db.all("SELECT * FROM api_tokens").length, 0);
});

Deno.test("users see and rotate their own tokens only; admins see and revoke all", async () => {
  using app = await usersApp();
  const viewer = (await login(app, "viewer@example.com")).accessToken;
  const admin = (await login(app, "admin@example.com")).accessToken;
  const { id, token } = await issue(app, { role: "viewer" }, viewer);
  const list = async (login: string, query = "") =>
    await app.call("GET", `/api/tokens${query}`, undefined, { token: login });

  equal((await list(viewer)).body.tokens.length, 1);
  equal((await list(viewer, "?all=true")).status, 403);
  equal((await list(admin)).body.tokens.length, 0);
  deepEqual((await list(admin, "?all=true")).body.tokens[0].userId, app.ids.viewer);
  const own = (await issue(app, {}, admin)).id;
  equal(
    (await app.call("DELETE", `/api/tokens/${own}`, undefined, { token: viewer })).status,
    404,
  );
  const rotate = `/api/tokens/${id}/rotate`;
  equal((await app.call("POST", rotate, undefined, { token: admin })).status, 404);
  equal((await app.call("DELETE", `/api/tokens/${id}`, undefined, { token: admin })).status, 200);
  equal(await statusWith(app, token), 401);
});

Deno.test("an API token cannot manage tokens, accounts or its own rights", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const admin = (await login(app, "admin@example.com")).accessToken;
  const { id, token } = await issue(app, { role: "admin" }, admin);
  const enterprise = "/api/ext/service-enterprise";
  for (
    const [method, path] of [
      ["GET", "/api/tokens"],
      ["POST", "/api/tokens"],
      ["POST", `/api/tokens/${id}/rotate`],
      ["DELETE", `/api/tokens/${id}`],
      ["POST", "/auth/users"],
      ["DELETE", `/auth/users/${app.ids.viewer}`],
      ["PUT", `/auth/users/${app.ids.viewer}/role`],
      ["PUT", `/auth/users/${app.ids.admin}/password`],
      ["POST", `${enterprise}/roles`],
      ["POST", `${enterprise}/roles/x/users`],
      ["POST", `${enterprise}/sso/providers`],
    ] as const
  ) {
    const { status, body } = await app.call(method, path, undefined, { token });
    deepEqual([status, body.error], [
      403,
      "API tokens cannot be used for this; log in instead",
    ], `${method} ${path}`);
  }
  equal((await app.call("GET", "/auth/users", undefined, { token })).status, 200);
});

Deno.test("a token uses a custom role of its owner only for permissions that it names", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const viewer = (await login(app, "viewer@example.com")).accessToken;
  await grant(app, app.ids.viewer, ["containers:restart", "containers:stop"]);
  const plain = (await issue(app, { role: "viewer" }, viewer)).token;
  const named = await issue(app, { role: "viewer", permissions: ["containers:restart"] }, viewer);
  const act = async (token: string, action: string) =>
    (await app.call("POST", `/api/containers/web/${action}`, undefined, { token })).status;

  equal(await act(viewer, "restart"), 503);
  equal(await act(plain, "restart"), 403);
  equal(await act(named.token, "restart"), 503);
  equal(await act(named.token, "stop"), 403);
});

Deno.test("a backup that leaves the stack stopped needs the permission to stop", async () => {
  using app = testApp();
  for (const [permissions, status] of [[[], 403], [["containers:stop"], 503]] as const) {
    const { token } = await issue(app, { permissions: ["backup:run", ...permissions] });
    const body = { stack: "shop", keepStopped: true };
    equal((await app.call("POST", "/api/backup/snapshots", body, { token })).status, status);
  }
});

Deno.test("the IP allowlist applies to API tokens as to their owner", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const { token } = await issue(app, {}, (await login(app, "operator@example.com")).accessToken);
  const allowlist = "/api/ext/service-enterprise/ip-allowlist";
  await app.call("POST", `${allowlist}/rules`, { cidr: "192.0.2.0/24", label: "office" });
  await app.call("PUT", `${allowlist}/config`, { enforcement_enabled: true });
  const from = async (address: string) =>
    (await app.call("GET", "/auth/me", undefined, { token, address })).status;
  equal(await from("192.0.2.1"), 200);
  equal(await from("198.51.100.1"), 403);
});

Deno.test("the audit log names the API token", async () => {
  using app = testApp();
  const { id, token } = await issue(app);
  await app.call("POST", "/api/containers/web/stop", undefined, { token });
  const { entries } = (await app.call("GET", "/api/audit")).body;
  const entryOf = (action: string) =>
    entries.find((entry: { action: string }) => entry.action === action);
  const stop = entryOf("POST /api/containers/:id/stop");
  const create = entryOf("POST /api/tokens");
  deepEqual([stop.actor, stop.token, stop.role], ["key", { id, name: "CI" }, "operator"]);
  deepEqual([create.target, create.targets, create.token], [
    "CI",
    ["CI", id],
    null,
  ]);
});

Deno.test("streams of an API token end when it is revoked, replaced or expires", async () => {
  for (const end of ["revoke", "rotate", "expire"]) {
    using app = testApp({ now: "2026-01-01T12:00:00Z" });
    const { id, token } = await issue(app, { expiresAt: "2026-01-01T13:00:00Z" });
    const { body } = await app.fetch("GET", "/api/stream", undefined, { token });
    const client = sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
    await client.next();
    app.clock.advance({ minutes: 59 });
    app.deps.stream.publish("event", { event: "test" });
    equal((await client.take(2)).at(-1)!.type, "event");

    if (end === "revoke") await app.call("DELETE", `/api/tokens/${id}`);
    else if (end === "rotate") await app.call("POST", `/api/tokens/${id}/rotate`);
    else app.clock.advance({ minutes: 1 });
    app.deps.stream.publish("event", { event: "test" });
    deepEqual(await client.rest(), [], end);
  }
});

Deno.test("a stream ticket has the limits of the API token", async () => {
  using app = testApp();
  setContainers(app, { name: "web" }, { name: "db" });
  const { id, token } = await issue(app, { containers: ["web"] });
  const ticketOf = async () =>
    (await app.call("POST", "/api/stream/ticket", undefined, { token })).body.ticket as string;
  const open = async (ticket: string) => {
    const { status, body } = await app.fetch(
      "GET",
      `/api/stream?types=containers,event&ticket=${ticket}`,
      undefined,
      { role: "public" },
    );
    return { status, client: sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>) };
  };
  const end = new AbortController();
  const forwarding = forwardEvents(app.deps, end.signal);

  const { client } = await open(await ticketOf());
  const names = (await client.next())!.data.containers.map(({ name }: { name: string }) => name);
  deepEqual(names, ["web"]);
  emit(app.deps, "container.up", { container: "db", id: idOf("db") });
  emit(app.deps, "container.up", { container: "web", id: idOf("web") });
  equal((await client.next())!.data.data.container, "web");
  await client.cancel();

  const unused = await ticketOf();
  await app.call("DELETE", `/api/tokens/${id}`);
  const refused = await open(unused);
  equal(refused.status, 401);
  await refused.client.cancel();
  end.abort();
  await forwarding;
});

Deno.test("METRICS_TOKEN stays the only token of GET /metrics where it is set", async () => {
  using app = testApp({ config: { metricsToken: "secret" } });
  const { token } = await issue(app);
  equal((await app.call("GET", "/metrics", undefined, { token })).status, 401);
  equal((await app.call("GET", "/auth/me", undefined, { token: TEST_API_KEY })).status, 401);
});
