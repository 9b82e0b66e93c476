import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ComplianceEntry } from "../../../../services/enterprise/compliance/hash_chain.ts";
import { sweepComplianceLog } from "../../../../services/enterprise/compliance/sweeper.ts";
import { emit } from "../../../../services/events/emit.ts";
import { createLog } from "../../../../services/log.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { TEST_ADDRESS, TEST_API_KEY, type TestApp, testApp } from "../../../helpers/test_app.ts";
import { usersApp } from "../../../helpers/accounts.ts";
import { until } from "../../../helpers/until.ts";

const BASE = "/api/ext/service-enterprise/compliance";

const opened = () => testApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
const entries = async (app: TestApp, query = ""): Promise<ComplianceEntry[]> =>
  (await app.call("GET", `${BASE}/logs?limit=500&${query}`)).body.logs;
const actions = async (app: TestApp) =>
  (await entries(app)).map(({ action, outcome }) => `${action} ${outcome}`).reverse();

Deno.test("writes, logins and denials of every edition are recorded, reads are not", async () => {
  using app = opened();
  await app.call("GET", "/api/webhooks");
  await app.call("GET", "/api/containers/none");
  await app.call("POST", "/api/maintenance", { enabled: true });
  await app.call("POST", "/api/maintenance", { enabled: "x" });
  await app.call("POST", "/api/ext/service-pro/incidents", { title: "x", severity: "minor" });
  await app.call("GET", "/api/audit", undefined, { role: "viewer" });
  await app.call("POST", "/api/containers/web/stop", undefined, { role: "viewer" });
  await app.call("GET", "/api/webhooks", undefined, { role: "public" });
  await app.call("GET", "/api/webhooks", undefined, { token: "x" });
  await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY }, { role: "public" });
  await app.call("POST", "/auth/token", { apiKey: "wrong-wrong-wrong" }, { role: "public" });
  await app.call("GET", "/livez", undefined, { role: "public" });
  deepEqual(await actions(app), [
    "settings.create success",
    "settings.create failure",
    "incidents.create success",
    "settings.read failure",
    "containers.stop failure",
    "webhooks.read failure",
    "webhooks.read failure",
    "auth.token success",
    "auth.token failure",
  ]);
  const text = JSON.stringify(await entries(app));
  for (const secret of [TEST_API_KEY, "wrong-wrong", "Bearer"]) ok(!text.includes(secret));
});

Deno.test("reads are recorded if configured, but not public ones", async () => {
  using app = opened();
  await app.call("PUT", `${BASE}/config`, { log_api_reads: true });
  await app.call("GET", "/api/webhooks");
  await app.call("GET", "/api/containers/none");
  await app.call("GET", "/livez", undefined, { role: "public" });
  await app.call("GET", "/livez");
  await app.call("HEAD", "/api/webhooks");
  deepEqual((await actions(app)).slice(1), [
    "webhooks.read success",
    "containers.read failure",
    "livez.read success",
    "webhooks.read success",
  ]);
});

Deno.test("what is outside of a token's scope is recorded as a denial", async () => {
  await using fake = fakeEngine({});
  using app = testApp({ edition: "enterprise", engine: fake.engine });
  setContainers(app, { name: "shop-web", labels: { "com.docker.compose.project": "shop" } }, {
    name: "bank-db",
  });
  const scope = { stacks: ["shop"] };
  for (
    const [method, path, status] of [
      ["GET", "/api/containers/shop-web", 200],
      ["GET", "/api/containers/bank-db", 404],
      ["GET", "/api/containers/bank-db/logs/stream", 404],
      ["POST", "/api/containers/bank-db/stop", 404],
    ] as const
  ) equal((await app.call(method, path, undefined, { scope })).status, status, path);
  deepEqual(
    (await entries(app)).map(({ category, detail, resource_id }) =>
      `${category} ${detail} ${resource_id}`
    ).reverse(),
    [
      "authorization GET /api/containers/:id: 404 bank-db",
      "authorization GET /api/containers/:id/logs/stream: 404 bank-db",
      "authorization POST /api/containers/:id/stop: 404 bank-db",
    ],
  );
  const { body } = await app.call("GET", "/api/audit?action=stop");
  equal(body.entries[0].outcome, "denied");
});

Deno.test("without the license nothing is written", async () => {
  using app = testApp({ edition: "pro" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  equal(app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM compliance_logs")!.n, 0);
});

Deno.test("every request has one entry, and no more", async () => {
  using app = opened();
  await app.call("POST", `${BASE}/logs`, { category: "data", action: "x" });
  await app.call("PUT", `${BASE}/config`, { retention_days: 100 });
  await app.call("POST", `${BASE}/verify-chain`, {});
  await (await app.fetch("GET", `${BASE}/export`)).text();
  await app.call("DELETE", `${BASE}/retention`);
  deepEqual(await actions(app), [
    "x success",
    "compliance.config_updated success",
    "compliance.verify success",
    "compliance.export success",
    "compliance.delete success",
  ]);
  await app.call("POST", `${BASE}/logs`, { category: "data", action: "y" }, { role: "viewer" });
  const [denied] = await entries(app);
  deepEqual([denied!.action, denied!.category, denied!.outcome], [
    "compliance.create",
    "authorization",
    "failure",
  ]);
});

Deno.test("unusual characters in a path are recorded as text", async () => {
  using app = opened();
  await app.call("POST", "/api/containers/a%00b%EF%BF%BD%22%0A/stop", undefined, {
    role: "viewer",
  });
  const [entry] = await entries(app);
  equal(entry!.resource_id, 'a\uFFFDb\uFFFD"\n');
  const { body } = await app.call("GET", `${BASE}/logs/${entry!.id}`);
  equal(body.chain_valid, true);
  equal((await app.call("POST", `${BASE}/verify-chain`, {})).body.verified, true);
});

Deno.test("anonymous requests beyond ten a minute are counted, not listed", async () => {
  using app = opened();
  const knock = async (times: number, address?: string) => {
    for (let n = 0; n < times; n++) {
      await app.call("GET", "/api/webhooks", undefined, {
        role: "public",
        ...(address !== undefined && { address }),
      });
    }
  };
  await knock(30);
  await knock(5, "192.0.2.99");
  equal((await entries(app)).length, 15);
  // Users with an account are not limited.
  for (let n = 0; n < 20; n++) await app.call("GET", "/api/audit", undefined, { role: "viewer" });
  equal((await entries(app)).length, 35);

  app.clock.advance({ minutes: 1 });
  await knock(1);
  const [last, rest] = await entries(app);
  equal(last!.action, "webhooks.read");
  deepEqual([rest!.action, rest!.detail, rest!.metadata, rest!.severity, rest!.outcome], [
    "requests.unlisted",
    "20 more anonymous requests since 2026-01-01T12:00:00.000Z were counted, not listed",
    { count: 20, since: "2026-01-01T12:00:00.000Z", addresses: [TEST_ADDRESS] },
    "warning",
    "failure",
  ]);
  equal((await entries(app)).length, 37);
});

for (const [path, action] of [["/auth/login", "auth.login"], ["/auth/session", "auth.session"]]) {
  Deno.test(`failed logins at ${path} are recorded however many other requests there were`, async () => {
    using app = await usersApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
    const anonymous = { role: "public" } as const;
    for (let n = 0; n < 30; n++) await app.call("GET", "/api/webhooks", undefined, anonymous);
    const credentials = { email: "Viewer@example.com", password: "wrong" };
    const headers = { "x-page-secret": "A".repeat(43) };
    const { status } = await app.call("POST", path!, credentials, { ...anonymous, headers });
    equal(status, 401);
    const [entry] = await entries(app);
    deepEqual([entry!.action, entry!.resource_id, entry!.metadata!.address], [
      action,
      "viewer@example.com",
      TEST_ADDRESS,
    ]);
  });
}

Deno.test("a hundred failed logins of an address are listed, the rest is one summary", async () => {
  using app = opened();
  const attempt = (address: string) =>
    app.call("POST", "/auth/token", { apiKey: "wrong" }, { role: "public", address });
  for (let n = 0; n < 130; n++) await attempt("192.0.2.66");
  await attempt("192.0.2.99");
  equal((await entries(app, "action=auth.token")).length, 101);

  app.clock.advance({ minutes: 1 });
  await attempt("192.0.2.99");
  const [, rest] = await entries(app);
  deepEqual([rest!.action, rest!.category, rest!.metadata], [
    "logins.unlisted",
    "authentication",
    { count: 30, since: "2026-01-01T12:00:00.000Z", addresses: ["192.0.2.66"] },
  ]);
});

Deno.test("the sweeper records omitted anonymous requests when it stops", async () => {
  using app = opened();
  for (let n = 0; n < 13; n++) {
    await app.call("GET", "/api/webhooks", undefined, { role: "public" });
  }
  const end = new AbortController();
  let rounds = 0;
  const running = sweepComplianceLog(app.deps, end.signal, () => rounds++);
  await until("a round is over", () => rounds > 0);
  end.abort();
  await running;
  const [last] = await entries(app);
  deepEqual([last!.action, last!.metadata!.count], ["requests.unlisted", 3]);
});

Deno.test("a login that is right is never left out, however many there were", async () => {
  using app = opened();
  for (let n = 0; n < 15; n++) {
    await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY }, { role: "public" });
  }
  equal((await entries(app, "action=auth.token&outcome=success")).length, 15);
});

Deno.test("an entry that cannot be written is told in the log, and the request is answered", async () => {
  const lines: string[] = [];
  const now = () => new Date("2026-01-01T12:00:00Z");
  const log = createLog({ level: "info", format: "json", now }, (line) => lines.push(line));
  using app = testApp({ edition: "enterprise", log });
  app.deps.db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON compliance_logs " +
      "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  const { status, body } = await app.call("POST", "/api/maintenance", { enabled: true });
  deepEqual([status, body.enabled], [200, true]);
  const told = lines.map((line) => JSON.parse(line)).filter(({ message }) =>
    message === "compliance entry lost"
  );
  equal(told.length, 1);
  deepEqual([told[0].action, told[0].actor_id, told[0].level], ["settings.create", "key", "error"]);
  match(told[0].error, /disk is full/);
  // An entry that was requested but not stored must not be reported as a success.
  const given = await app.call("POST", `${BASE}/logs`, { category: "data", action: "x" });
  ok(given.status >= 500);
  const verified = await app.call("POST", `${BASE}/verify-chain`, {});
  deepEqual([verified.status, verified.body.verified], [200, true]);

  app.deps.db.exec("DROP TRIGGER full");
  await app.call("POST", "/api/maintenance", { enabled: false });
  equal((await entries(app)).length, 1);
});

const executed = {
  rule: "Keep web running",
  ruleId: "r1",
  action: "restart",
  target: "web",
  status: "success",
  error: null,
};

Deno.test("actions of the service are recorded with their cause", async () => {
  using app = opened();
  const { deps } = app;
  emit(deps, "remediation.executed", executed);
  emit(deps, "remediation.executed", { ...executed, status: "failure", error: "x".repeat(9_000) });
  emit(deps, "remediation.disabled", {
    rule: "Keep web running",
    ruleId: "r1",
    reason: "Too often",
  });
  emit(deps, "schedule.failed", {
    schedule: "nightly",
    scheduleId: "s1",
    container: "db",
    action: "restart",
    error: "no such container",
  });
  emit(deps, "account.new_sign_in", {
    account: "ada@example.com",
    userId: "u1",
    sessionId: "s1",
    address: "198.51.100.7",
    userAgent: null,
  });
  const deploy = { stack: "shop", version: 3, reason: null, jobId: "j1" };
  const commit = { commit: "a".repeat(40), author: "Ada <ada@example.org>", message: "Add shop" };
  emit(deps, "deploy.succeeded", deploy);
  emit(deps, "deploy.succeeded", { ...deploy, ...commit, signer: "ada@example.org" });
  emit(deps, "deploy.rolled_back", { ...deploy, ...commit });
  emit(deps, "container.up", { container: "web", id: "1" });
  const all = (await entries(app)).reverse();
  deepEqual(
    all.map(({ actor_id, actor_type, action, resource_id, outcome, severity }) => [
      ...[actor_id, actor_type, action, resource_id, outcome, severity],
    ]),
    [
      ["system", "system", "remediation.executed", "web", "success", "info"],
      ["system", "system", "remediation.executed", "web", "failure", "warning"],
      ["system", "system", "remediation.disabled", "r1", "success", "warning"],
      ["system", "system", "schedule.failed", "db", "failure", "warning"],
      ["system", "system", "account.new_sign_in", "u1", "success", "warning"],
      ["system", "system", "deploy.succeeded", "shop", "success", "info"],
      ["system", "system", "deploy.rolled_back", "shop", "failure", "warning"],
    ],
  );
  deepEqual(all.slice(-2).map(({ metadata }) => metadata), [
    { ...commit, signer: "ada@example.org", version: 3 },
    { ...commit, signer: null, version: 3 },
  ]);
  equal(String(all[1]!.metadata!.error).length, 500);
  equal((await app.call("POST", `${BASE}/verify-chain`, {})).body.verified, true);
  await app.call("PUT", `${BASE}/config`, { enabled: false });
  emit(deps, "remediation.executed", executed);
  equal((await entries(app))[0]!.action, "compliance.config_updated");
});

Deno.test("an act that is undone leaves no entry, and the chain goes on", async () => {
  using app = opened();
  const { deps } = app;
  emit(deps, "remediation.executed", executed);
  const failing = {
    ...deps,
    recorders: [...deps.recorders, {
      edition: "ce" as const,
      record: () => {
        throw new Error("undone");
      },
    }],
  };
  try {
    emit(failing, "remediation.executed", executed);
  } catch (error) {
    equal((error as Error).message, "undone");
  }
  emit(deps, "remediation.executed", executed);
  equal((await entries(app)).length, 2);
  equal((await app.call("POST", `${BASE}/verify-chain`, {})).body.entries_checked, 2);
});

Deno.test("an entry that cannot be written does not undo what the service did", async () => {
  using app = opened();
  const { deps } = app;
  deps.db.exec(
    "CREATE TRIGGER full BEFORE UPDATE ON compliance_head " +
      "BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  emit(deps, "remediation.executed", executed, () => {
    deps.db.run("INSERT INTO settings (name, value) VALUES ('done', 'yes')");
  });
  deps.db.exec("DROP TRIGGER full");
  equal(
    deps.db.get<{ value: string }>("SELECT value FROM settings WHERE name = 'done'")!.value,
    "yes",
  );
  deepEqual(await entries(app), []);
  equal((await app.call("POST", `${BASE}/verify-chain`, {})).body.verified, true);
});
