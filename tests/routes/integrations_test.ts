import { deepEqual, equal, match } from "node:assert/strict";
import { upsertIntegrationData } from "../../db/integration_data.ts";
import { selectIntegration, updateIntegration } from "../../db/integrations.ts";
import { sweepIntegrationData } from "../../services/automation/integrations/data.ts";
import { createSecrets } from "../../services/secrets/secrets.ts";
import { fakeSystem } from "../helpers/fake_system.ts";
import { integrate, integrationsApp } from "../helpers/integrations.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const REDACTED = "********";

const json = {
  adapter: "http-json",
  name: "Shop",
  config: {
    url: "http://10.0.0.1/status",
    headers: { "X-Api-Key": "the-secret", Accept: "text/plain" },
    fieldMappings: [{ path: "a", name: "a" }],
  },
  poll_interval: 30,
};

const update = async (app: TestApp, id: string, change: unknown) =>
  await app.call("PUT", `/api/integrations/${id}`, change);

Deno.test("POST /api/integrations stores an integration and shows it without its secrets", async () => {
  using app = integrationsApp();

  const created = await app.call("POST", "/api/integrations", json);

  equal(created.status, 201);
  const { id, ...rest } = created.body;
  match(id, /^[0-9a-f-]{36}$/);
  deepEqual(rest, {
    adapter: "http-json",
    name: "Shop",
    config: {
      url: "http://10.0.0.1/status",
      headers: { "X-Api-Key": REDACTED, Accept: REDACTED },
      fieldMappings: [{ path: "a", name: "a" }],
    },
    poll_interval: 30,
    enabled: true,
    last_poll_at: null,
    last_status: "never",
    last_error: null,
    created_at: "2026-03-01T12:00:00.000Z",
    updated_at: "2026-03-01T12:00:00.000Z",
  });
  deepEqual((await app.call("GET", "/api/integrations")).body, { integrations: [created.body] });
  deepEqual((await app.call("GET", `/api/integrations/${id}`)).body, created.body);
});

Deno.test("secrets are encrypted in the database and bound to their integration", async () => {
  using app = integrationsApp();
  const a = await integrate(app, json.adapter, json.config);
  const b = await integrate(app, json.adapter, { ...json.config, headers: undefined });
  const rows = JSON.stringify(app.deps.db.all("SELECT * FROM integrations"));
  equal(rows.includes("the-secret"), false);

  // A sealed text that is moved to another row cannot be opened.
  const [stolen, other] = [selectIntegration(app.deps.db, a)!, selectIntegration(app.deps.db, b)!];
  updateIntegration(app.deps.db, { ...other, secrets: stolen.secrets });
  const { body } = await app.call("POST", `/api/integrations/${b}/test`);
  equal(body.ok, false);
  match(body.error, /cannot be decrypted/);
});

Deno.test("after a change of SECRET_KEY, integrations are listed and secrets can be entered again", async () => {
  using app = integrationsApp();
  const id = await integrate(app, json.adapter, json.config);
  app.deps.secrets = createSecrets({
    jwtSecret: new Uint8Array(32),
    secretKey: new Uint8Array(32).fill(9),
  });
  equal((await app.call("GET", "/api/integrations")).status, 200);
  match((await app.call("POST", `/api/integrations/${id}/poll`)).body.error, /SECRET_KEY/);
  const kept = await update(app, id, {
    config: { ...json.config, headers: { "X-Api-Key": REDACTED } },
  });
  deepEqual([kept.status, kept.body.error], [
    400,
    "body.config.headers.X-Api-Key: is redacted, but no value is stored",
  ]);
  equal((await update(app, id, { config: json.config })).status, 200);
});

Deno.test("PUT keeps redacted secrets and stores new ones", async () => {
  const seen: (string | null)[][] = [];
  await using system = fakeSystem(({ headers }) => {
    seen.push([headers.get("x-a"), headers.get("x-b"), headers.get("x-c")]);
    return { a: 1 };
  });
  using app = integrationsApp();
  const config = { ...json.config, url: system.url, headers: { "X-A": "1", "X-B": "2" } };
  const id = await integrate(app, "http-json", config);
  const change = (headers: unknown) => update(app, id, { config: { ...config, headers } });
  const poll = () => app.call("POST", `/api/integrations/${id}/poll`);

  await poll();
  equal((await change({ "X-A": REDACTED, "X-B": "3", "X-C": "4" })).status, 200);
  await poll();
  equal((await change({ "X-C": REDACTED })).status, 200);
  await poll();
  equal((await change(undefined)).status, 200);
  await poll();

  deepEqual(seen, [["1", "2", null], ["1", "3", "4"], [null, null, "4"], [null, null, null]]);
  equal((await change({ "X-A": REDACTED })).status, 400);
});

Deno.test("a secret of one adapter is never sent to another system", async () => {
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "dashboard", { url: "http://10.0.0.1", apiKey: "secret" });
  const answer = await update(app, id, {
    adapter: "incident-paging",
    config: { apiKey: REDACTED, api_url: "http://10.0.0.2" },
  });
  deepEqual([answer.status, answer.body.error], [
    400,
    "body.config.apiKey: is redacted, but no value is stored",
  ]);
  const whole = await update(app, id, {
    adapter: "pagerduty",
    config: { apiKey: "other", api_url: "http://10.0.0.2" },
  });
  deepEqual([whole.status, whole.body.adapter], [200, "incident-paging"]);
});

const BEARER = { url: "http://10.0.0.1:9090/prometheus", bearerToken: "s" };
const PAGING = { apiKey: "s", serviceIds: ["P1"] };
const SAAS = { apiKey: "s", appKey: "t" };
const CLOUD = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-key", region: "eu-west-1" };
const KEPT_KEYS = { apiKey: REDACTED, appKey: REDACTED };

for (
  const [adapter, config, change, field] of [
    [
      "metrics-query",
      BEARER,
      { url: "http://10.0.0.2:9090/prometheus", bearerToken: REDACTED },
      "bearerToken",
    ],
    [
      "metrics-query",
      BEARER,
      { url: "http://10.0.0.1:9091/prometheus", bearerToken: REDACTED },
      "bearerToken",
    ],
    ["dashboard", { url: "https://10.0.0.1", apiKey: "s" }, {
      url: "http://10.0.0.1",
      apiKey: REDACTED,
    }, "apiKey"],
    ["http-json", json.config, {
      ...json.config,
      url: "http://10.0.0.2/status",
      headers: { Accept: "a/b", "X-Api-Key": REDACTED },
    }, "headers.X-Api-Key"],
    [
      "incident-paging",
      PAGING,
      { ...PAGING, apiKey: REDACTED, api_url: "http://10.0.0.2" },
      "apiKey",
    ],
    [
      "incident-paging",
      { ...PAGING, api_url: "http://10.0.0.2" },
      { ...PAGING, apiKey: REDACTED },
      "apiKey",
    ],
    [
      "monitoring-saas",
      SAAS,
      { apiKey: "s", appKey: REDACTED, api_url: "http://10.0.0.2" },
      "appKey",
    ],
    ["monitoring-saas", SAAS, { ...KEPT_KEYS, site: "datadoghq.eu" }, "apiKey"],
    [
      "cloud-metrics",
      CLOUD,
      { ...CLOUD, secretAccessKey: REDACTED, api_url: "http://10.0.0.2" },
      "secretAccessKey",
    ],
  ] as const
) {
  const name = JSON.stringify(change);
  Deno.test(`${field} of a ${adapter} is not kept for another origin: ${name}`, async () => {
    using app = integrationsApp({ edition: "pro" });
    const id = await integrate(app, adapter, config);
    const refused = await update(app, id, { config: change });
    deepEqual([refused.status, refused.body.error], [
      400,
      `body.config.${field}: give it again, the address changed`,
    ]);
    const again = { ...config, ...JSON.parse(name.replaceAll(REDACTED, "given-again")) };
    equal((await update(app, id, { config: again })).status, 200);
  });
}

for (
  const { adapter, config, change } of [
    {
      adapter: "metrics-query",
      config: BEARER,
      change: { url: "HTTP://10.0.0.1:9090/mimir", bearerToken: REDACTED },
    },
    {
      adapter: "incident-paging",
      config: { ...PAGING, api_url: "http://10.0.0.2" },
      change: { apiKey: REDACTED, api_url: "http://10.0.0.2/gateway" },
    },
    {
      adapter: "monitoring-saas",
      config: SAAS,
      change: { ...KEPT_KEYS, site: "datadoghq.com" },
    },
    {
      // It is only used for signing.
      adapter: "cloud-metrics",
      config: CLOUD,
      change: { ...CLOUD, secretAccessKey: REDACTED, region: "us-east-1" },
    },
  ]
) {
  Deno.test(`a ${adapter} keeps its secret if only ${JSON.stringify(change)} changes`, async () => {
    using app = integrationsApp({ edition: "pro" });
    const id = await integrate(app, adapter, config);
    const { status, body } = await update(app, id, { config: change });
    equal(status, 200, body.error);
  });
}

Deno.test("PUT changes the given fields and keeps the rest", async () => {
  using app = integrationsApp();
  const id = await integrate(app, json.adapter, json.config, { poll_interval: 30 });
  const before = (await app.call("GET", `/api/integrations/${id}`)).body;
  app.clock.advance({ minutes: 1 });

  for (
    const change of [{ name: "Other" }, { poll_interval: 86_400 }, { enabled: false }, {}]
  ) {
    Object.assign(before, change, { updated_at: "2026-03-01T12:01:00.000Z" });
    deepEqual((await update(app, id, change)).body, before);
  }
  deepEqual((await app.call("GET", `/api/integrations/${id}`)).body, before);
});

for (
  const [what, change, error] of [
    ["an unknown adapter", { adapter: "toaster" }, /^body\.adapter: .*http-json/],
    ["what every object inherits as adapter", { adapter: "__proto__" }, /^body\.adapter: /],
    ["no name", { name: " " }, /^body\.name: /],
    ["an endless name", { name: "x".repeat(101) }, /^body\.name: .*100/],
    ["no config", { config: undefined }, /^body\.config: /],
    ["a config that is a list", { config: [] }, /^body\.config: /],
    ["a short interval", { poll_interval: 9 }, /^body\.poll_interval: .*10/],
    ["a long interval", { poll_interval: 86_401 }, /^body\.poll_interval: .*86400/],
    ["half a second", { poll_interval: 30.5 }, /^body\.poll_interval: /],
    ["a text as interval", { poll_interval: "30" }, /^body\.poll_interval: /],
    ["a text as enabled", { enabled: "yes" }, /^body\.enabled: /],
  ] as const
) {
  Deno.test(`POST /api/integrations refuses ${what}`, async () => {
    using app = integrationsApp();
    const answer = await app.call("POST", "/api/integrations", { ...json, ...change });
    equal(answer.status, 400);
    match(answer.body.error, error);
  });
}

for (
  const [adapter, config, error] of [
    ["metrics-query", {}, /^body\.config\.url: /],
    ["metrics-query", { url: 1 }, /^body\.config\.url: /],
    ["metrics-query", { url: "prometheus:9090" }, /^body\.config\.url: is not an http/],
    ["metrics-query", { url: "file:///etc/passwd" }, /^body\.config\.url: is not an http/],
    ["metrics-query", { url: "http://user:pw@10.0.0.1" }, /^body\.config\.url: .*password/],
    [
      "metrics-query",
      { url: "http://10.0.0.1", bearerToken: "a\r\nb" },
      /^body\.config\.bearerToken: /,
    ],
    [
      "metrics-query",
      { url: "http://10.0.0.1", bearerToken: REDACTED },
      /^body\.config\.bearerToken: is redacted/,
    ],
    [
      "metrics-query",
      { url: "http://10.0.0.1", queries: [{ name: "a" }] },
      /^body\.config\.queries\.0\.query: /,
    ],
    ["dashboard", { url: "http://10.0.0.1" }, /^body\.config\.apiKey: /],
    [
      "dashboard",
      { url: "http://169.254.169.254/latest", apiKey: "x" },
      /^body\.config\.url: .*may not reach/,
    ],
    [
      "dashboard",
      { url: "http://127.0.0.1:3000", apiKey: "x" },
      /^body\.config\.url: .*may not reach/,
    ],
    [
      "dashboard",
      { url: "http://[::ffff:127.0.0.1]", apiKey: "x" },
      /^body\.config\.url: .*may not reach/,
    ],
    ["dashboard", { url: "http://2130706433", apiKey: "x" }, /^body\.config\.url: .*may not reach/],
    ["dashboard", { url: "http://localhost", apiKey: "x" }, /^body\.config\.url: .*may not reach/],
    [
      "datadog",
      { apiKey: "x", appKey: "y", api_url: "http://[fd00:ec2::254]" },
      /^body\.config\.api_url: .*may not reach/,
    ],
    [
      "cloudwatch",
      { accessKeyId: "AKIDEXAMPLE", region: "eu-west-1" },
      /^body\.config\.secretAccessKey: /,
    ],
    ["pagerduty", { apiKey: "x", serviceIds: ["a b"] }, /^body\.config\.serviceIds\.0: /],
  ] as const
) {
  Deno.test(`the config ${JSON.stringify(config)} is not one of ${adapter}`, async () => {
    using app = testApp({ edition: "pro" });
    const answer = await app.call("POST", "/api/integrations", { ...json, adapter, config });
    equal(answer.status, 400);
    match(answer.body.error, error);
    if (adapter !== "metrics-query") return;
    const id = await integrate(app, "metrics-query", { url: "http://10.0.0.1" });
    const changed = await update(app, id, { config });
    deepEqual([changed.status, changed.body.error], [400, answer.body.error]);
  });
}

Deno.test("GET /api/integrations/adapters lists all adapters and whether the edition includes them", async () => {
  using app = integrationsApp();
  const { adapters } = (await app.call("GET", "/api/integrations/adapters")).body;
  deepEqual(
    adapters.map((each: Record<string, unknown>) => [each.id, each.edition, each.available]),
    [
      ["metrics-query", "ce", true],
      ["dashboard", "ce", true],
      ["http-json", "ce", true],
      ["monitoring-saas", "pro", false],
      ["cloud-metrics", "pro", false],
      ["incident-paging", "pro", false],
    ],
  );
  deepEqual(
    adapters.map((each: { config: unknown }) => each.config),
    [
      { required: ["url"], optional: ["bearerToken", "queries"], sensitive: ["bearerToken"] },
      { required: ["url", "apiKey"], optional: [], sensitive: ["apiKey"] },
      {
        required: ["url", "fieldMappings"],
        optional: ["method", "headers"],
        sensitive: ["headers"],
      },
      {
        required: ["apiKey", "appKey"],
        optional: ["site", "api_url"],
        sensitive: ["apiKey", "appKey"],
      },
      {
        required: ["accessKeyId", "secretAccessKey", "region"],
        optional: ["api_url"],
        sensitive: ["secretAccessKey"],
      },
      { required: ["apiKey"], optional: ["serviceIds", "api_url"], sensitive: ["apiKey"] },
    ],
  );
  using pro = integrationsApp({ edition: "pro" });
  const all = (await pro.call("GET", "/api/integrations/adapters")).body.adapters;
  equal(all.every(({ available }: { available: boolean }) => available), true);
});

Deno.test("an adapter of another edition is 402, also after its license has ended", async () => {
  const pagerduty = { ...json, adapter: "pagerduty", config: { apiKey: "x" } };
  using ce = integrationsApp();
  const refused = await ce.call("POST", "/api/integrations", pagerduty);
  deepEqual([refused.status, refused.body.current, refused.body.max, refused.body.error], [
    402,
    0,
    0,
    "The integration adapter Incident paging (PagerDuty) needs the Pro edition (integrations)",
  ]);
  for (const wrong of [{ ...pagerduty, config: {} }, { adapter: "pagerduty", unknown: 1 }]) {
    equal((await ce.call("POST", "/api/integrations", wrong)).status, 402);
  }
  const id = await integrate(ce, json.adapter, json.config);
  equal((await update(ce, id, pagerduty)).status, 402);
  equal((await update(ce, id, { adapter: "pagerduty", name: "" })).status, 402);

  using pro = integrationsApp({ edition: "pro" });
  const kept = (await pro.call("POST", "/api/integrations", pagerduty)).body;
  pro.deps.license.use(undefined);
  equal((await pro.call("GET", `/api/integrations/${kept.id}`)).status, 200);
  equal((await pro.call("POST", `/api/integrations/${kept.id}/test`)).status, 402);
  equal((await pro.call("POST", `/api/integrations/${kept.id}/poll`)).status, 402);
  equal((await update(pro, kept.id, { enabled: false })).status, 200);
  equal((await update(pro, kept.id, { adapter: "pagerduty", name: "" })).status, 400);
});

Deno.test("the edition's limit of integrations holds for concurrent requests", async () => {
  using app = integrationsApp();
  const create = () => app.call("POST", "/api/integrations", json);
  const answers = await Promise.all(Array.from({ length: 12 }, create));
  deepEqual(
    answers.map(({ status }) => status).sort(),
    [...Array(10).fill(201), 402, 402],
  );
  const full = await create();
  deepEqual([full.status, full.body.error, full.body.current, full.body.max], [
    402,
    "Edition limit reached (integrations): the Community Edition allows 10; delete one or upgrade",
    10,
    10,
  ]);
  equal((await app.call("POST", "/api/integrations", { ...json, name: "" })).status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.integrations, 10);
  using pro = integrationsApp({ edition: "pro" });
  for (let n = 0; n < 11; n++) await integrate(pro, json.adapter, json.config);
});

for (
  const [method, path, body] of [
    ["GET", ""],
    ["PUT", "", {}],
    ["DELETE", ""],
    ["POST", "/test"],
    ["POST", "/poll"],
    ["GET", "/data"],
  ] as [string, string, unknown?][]
) {
  Deno.test(`${method} /api/integrations/:id${path} of an unknown id is 404`, async () => {
    using app = integrationsApp();
    const answer = await app.call(method, `/api/integrations/unknown${path}`, body);
    deepEqual([answer.status, answer.body.error], [404, "Integration unknown does not exist"]);
  });
}

Deno.test("GET /api/integrations/:id/data filters by type and time, newest first", async () => {
  using app = integrationsApp();
  const id = await integrate(app, json.adapter, json.config);
  const names = async (query: string) => {
    const { status, body } = await app.call("GET", `/api/integrations/${id}/data${query}`);
    return status === 200 ? body.data.map(({ name }: { name: string }) => name) : body.error;
  };
  for (let n = 0; n < 120; n++) store(app, id, n);

  equal((await names("")).length, 100);
  deepEqual(await names("?limit=2"), ["r119", "r118"]);
  deepEqual(await names("?limit=2&offset=2"), ["r117", "r116"]);
  equal((await names("?limit=500")).length, 120);
  deepEqual(await names("?type=event&limit=2"), ["r117", "r114"]);
  deepEqual(
    await names("?since=2026-03-01T10:01:58.000Z"),
    ["r119", "r118"],
  );
  deepEqual(await names("?until=2026-03-01T11:00:01%2B01:00"), ["r1", "r0"]);
  deepEqual(await names("?since=2026-03-02"), []);
  equal((await names("?until=2026-03-01&limit=500")).length, 120);
  deepEqual(await names("?until=2026-02-28"), []);
  for (
    const [query, error] of [
      ["?type=metrics", /^query\.type: /],
      ["?since=yesterday", /^query\.since: must be an ISO 8601/],
      ["?until=2026-13-01", /^query\.until: must be an ISO 8601/],
      ["?until=2026", /^query\.until: must be an ISO 8601/],
      ["?since=2026-03-02&until=2026-03-01", /^query\.since: is after query\.until/],
      ["?limit=0", /^query\.limit: must be at least 1/],
      ["?limit=501", /^query\.limit: must be at most 500/],
      ["?limit=-1", /^query\.limit: must be at least 1/],
      ["?limit=abc", /^query\.limit: must be a whole number/],
    ] as const
  ) match(await names(query), error);
});

Deno.test("DELETE /api/integrations/:id deletes the integration and its data", async () => {
  using app = integrationsApp();
  const id = await integrate(app, json.adapter, json.config);
  const other = await integrate(app, json.adapter, json.config);
  app.deps.metrics.transaction(() => {
    for (let n = 0; n < 4_500; n++) store(app, id, n);
  });
  store(app, other, 1);

  deepEqual((await app.call("DELETE", `/api/integrations/${id}`)).body, { ok: true });

  equal((await app.call("GET", `/api/integrations/${id}`)).status, 404);
  deepEqual(
    app.deps.metrics.all("SELECT integration_id AS id FROM integration_data"),
    [{ id: other }].map((row) => Object.assign(Object.create(null), row)),
  );
});

Deno.test("data is kept for 7 days, or until its integration is deleted", async () => {
  await using system = fakeSystem({ "/": () => ({ a: 1 }) });
  using app = integrationsApp();
  const config = { ...json.config, url: system.url };
  const id = await integrate(app, json.adapter, config);
  const gone = await integrate(app, json.adapter, config);
  for (const each of [id, gone]) await app.call("POST", `/api/integrations/${each}/poll`);
  // As after a crash between the two databases.
  app.deps.db.run("DELETE FROM integrations WHERE id = :gone", { gone });
  const left = () =>
    app.deps.metrics.all<{ id: string }>("SELECT integration_id AS id FROM integration_data")
      .map((row) => row.id);

  await sweepIntegrationData(app.deps);
  deepEqual(left(), [id]);
  app.clock.advance({ days: 7, ms: -1 });
  await sweepIntegrationData(app.deps);
  deepEqual(left(), [id]);
  app.clock.advance({ ms: 2 });
  await sweepIntegrationData(app.deps);
  deepEqual(left(), []);
});

/** Stores a record `n` seconds after ten o'clock. */
function store(app: TestApp, integrationId: string, n: number): void {
  upsertIntegrationData(app.deps.metrics, {
    id: crypto.randomUUID(),
    integrationId,
    type: n % 3 === 0 ? "event" : "metric",
    name: `r${n}`,
    value: n,
    unit: null,
    labels: {},
    severity: null,
    status: null,
    detail: null,
    timestamp: new Date(Date.parse("2026-03-01T10:00:00Z") + n * 1000).toISOString(),
    key: null,
    active: false,
  });
}

Deno.test("the query of an integration's address is encrypted, shown redacted, kept and sent", async () => {
  await using system = fakeSystem(() => Response.json({ a: 1 }));
  using app = integrationsApp();
  const url = `${system.url}/status?key=t0ken&part=1`;
  const shown = `${system.url}/status?key=********&part=********`;
  const config = { ...json.config, headers: undefined };
  const { body: created } = await app.call("POST", "/api/integrations", {
    ...json,
    config: { ...config, url },
  });
  const path = `/api/integrations/${created.id}`;
  const stored = () => JSON.stringify(app.deps.db.all("SELECT * FROM integrations"));
  equal(created.config.url, shown);
  equal(stored().includes("t0ken"), false);
  equal((await app.call("GET", path, undefined, { role: "viewer" })).body.config.url, shown);

  equal((await update(app, created.id, { config: { ...config, url: shown } })).status, 200);
  await app.call("POST", `${path}/test`);
  equal(system.asked.at(-1)!.path, "/status?key=t0ken&part=1");

  const elsewhere = await update(app, created.id, {
    config: { ...config, url: "http://10.0.0.9/status?key=********" },
  });
  deepEqual([elsewhere.status, elsewhere.body.error.split(":")[0]], [400, "body.config.url"]);
  const unknown = await update(app, created.id, {
    config: { ...config, url: `${system.url}/?other=********` },
  });
  equal(unknown.status, 400);
});
