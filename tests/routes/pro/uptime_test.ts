import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createSecrets } from "../../../services/secrets/secrets.ts";
import { fakeReceiver } from "../../helpers/fake_receiver.ts";
import { fakeSystem } from "../../helpers/fake_system.ts";
import { testApp, type TestAppOptions } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const BASE = "/api/ext/service-pro/uptime";
const MONITORS = `${BASE}/monitors`;

const http = { name: "Shop", type: "http", url: "https://192.168.7.7/health" };

const app = (options: TestAppOptions = {}) =>
  testApp({ edition: "pro", config: { outboundAllow: ["127.0.0.0/8"] }, ...options });

Deno.test("POST /uptime/monitors stores a monitor with its defaults, which is then shown", async () => {
  using pro = app({ now: "2026-03-01T12:00:00Z" });
  const created = await pro.call("POST", MONITORS, http);
  equal(created.status, 201);
  const { id, ...rest } = created.body;
  deepEqual(rest, {
    ...http,
    method: "GET",
    expected_status: 200,
    keyword: null,
    record_type: null,
    expected: null,
    timeout_ms: 5_000,
    interval_seconds: 60,
    retries: 1,
    headers: {},
    body: null,
    auto_incident: false,
    status: "pending",
    last_checked_at: null,
    last_response_time_ms: null,
    uptime_24h: null,
    created_at: "2026-03-01T12:00:00.000Z",
    updated_at: "2026-03-01T12:00:00.000Z",
  });
  deepEqual((await pro.call("GET", `${MONITORS}/${id}`)).body, created.body);
  deepEqual((await pro.call("GET", MONITORS)).body, { monitors: [created.body] });
});

for (
  const { given, shown } of [
    {
      given: { type: "tcp", url: "192.168.7.8:5432", method: "GET", expected_status: 200 },
      shown: { type: "tcp", url: "192.168.7.8:5432", method: null, expected_status: null },
    },
    {
      given: { type: "dns", url: "_sip._tcp.example.com", record_type: "SRV", expected: "1 2 3 a" },
      shown: { type: "dns", record_type: "SRV", expected: "1 2 3 a", method: null },
    },
    { given: { type: "dns", url: "localhost" }, shown: { record_type: "A", expected: null } },
    { given: { expected_status: "200-299, 301" }, shown: { expected_status: "200-299,301" } },
    { given: { expected_status: "204" }, shown: { expected_status: 204 } },
    {
      given: { expected_status: 418, method: "HEAD" },
      shown: { expected_status: 418, method: "HEAD" },
    },
    {
      given: { keyword: null, method: null, expected_status: null },
      shown: { method: "GET", expected_status: 200 },
    },
    {
      given: { interval_seconds: 5, timeout_ms: 100, retries: 0 },
      shown: { interval_seconds: 5, timeout_ms: 100, retries: 0 },
    },
    {
      given: { interval_seconds: 86_400, timeout_ms: 60_000, retries: 5 },
      shown: { interval_seconds: 86_400, timeout_ms: 60_000, retries: 5 },
    },
  ]
) {
  Deno.test(`POST /uptime/monitors accepts ${JSON.stringify(given)}`, async () => {
    using pro = app();
    const { status, body } = await pro.call("POST", MONITORS, { ...http, ...given });
    equal(status, 201, JSON.stringify(body));
    deepEqual(Object.fromEntries(Object.keys(shown).map((key) => [key, body[key]])), shown);
  });
}

for (
  const [change, error] of [
    [{ name: "" }, /^body\.name: /],
    [{ name: "x".repeat(101) }, /^body\.name: /],
    [{ type: "icmp" }, /^body\.type: /],
    [{ url: "ftp://192.168.7.7/" }, /^body\.url: is not an http:\/\/ or https:\/\/ URL$/],
    [{ url: "https://user:pass@192.168.7.7/" }, /^body\.url: contains a user name or password/],
    [{ url: "http://169.254.169.254/latest" }, /^body\.url: .* may not reach/],
    [{ url: "http://[::1]/" }, /^body\.url: .* may not reach/],
    [{ type: "tcp", url: "192.168.7.7" }, /^body\.url: not host:port/],
    [{ type: "tcp", url: "192.168.7.7:0" }, /^body\.url: not host:port/],
    [{ type: "tcp", url: "[::1]:22" }, /^body\.url: .* may not reach/],
    [{ type: "tcp", url: "169.254.1.1:80" }, /^body\.url: .* may not reach/],
    [{ type: "tcp", url: "0x7f000001:80" }, /^body\.url: .* may not reach/],
    [{ type: "dns", url: "not a name" }, /^body\.url: not a domain name/],
    [{ type: "dns", url: `${"a".repeat(64)}.com` }, /^body\.url: not a domain name/],
    [{ type: "dns", url: "a.com", record_type: "ANY" }, /^body\.record_type: /],
    [
      { type: "tcp", url: "192.168.7.8:1", keyword: "a" },
      /^body\.keyword: only for monitors of type http/,
    ],
    [
      { type: "dns", url: "a.com", headers: { a: "b" } },
      /^body\.headers: only for monitors of type http/,
    ],
    [{ expected: "192.0.2.1" }, /^body\.expected: only for monitors of type dns/],
    [{ method: "TRACE" }, /^body\.method: /],
    [{ expected_status: 99 }, /^body\.expected_status: /],
    [{ expected_status: "299-200" }, /^body\.expected_status: must be statuses/],
    [{ expected_status: "200-" }, /^body\.expected_status: must be statuses/],
    [{ expected_status: "6xx" }, /^body\.expected_status: must be statuses/],
    [{ timeout_ms: 99 }, /^body\.timeout_ms: /],
    [{ timeout_ms: 60_001 }, /^body\.timeout_ms: /],
    [{ interval_seconds: 4 }, /^body\.interval_seconds: /],
    [{ interval_seconds: 86_401 }, /^body\.interval_seconds: /],
    [{ interval_seconds: 5.5 }, /^body\.interval_seconds: /],
    [{ retries: 6 }, /^body\.retries: /],
    [{ retries: -1 }, /^body\.retries: /],
    [{ keyword: "" }, /^body\.keyword: /],
    [{ headers: { host: "other" } }, /^body\.headers\.host: belongs to the connection/],
    [{ headers: { "x-a": "b\r\nx-c: d" } }, /^body\.headers\.x-a: must be at most/],
    [{ headers: { "x-a": "********" } }, /^body\.headers\.x-a: .* there is none$/],
    [{ headers: { "x-a": "1", "X-A": "2" } }, /^body\.headers\.X-A: given twice/],
    [
      { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`h${i}`, ""])) },
      /at most 20/,
    ],
    [{ body: "x".repeat(65_537) }, /^body\.body: /],
    [{ body: "********" }, /^body\.body: .* there is none$/],
    [{ auto_incident: "yes" }, /^body\.auto_incident: /],
  ] as const
) {
  Deno.test(`POST /uptime/monitors refuses ${JSON.stringify(change).slice(0, 80)}`, async () => {
    using pro = app();
    const { status, body } = await pro.call("POST", MONITORS, { ...http, ...change });
    equal(status, 400);
    match(body.error, error);
    deepEqual((await pro.call("GET", MONITORS)).body.monitors, []);
  });
}

Deno.test("monitors are sorted by name, whatever the case", async () => {
  using pro = app();
  for (const name of ["Zoo", "shop", "API"]) {
    await pro.call("POST", MONITORS, { ...http, name });
  }
  const { monitors } = (await pro.call("GET", MONITORS)).body;
  deepEqual(monitors.map(({ name }: { name: string }) => name), ["API", "shop", "Zoo"]);
});

Deno.test("loopback needs OUTBOUND_ALLOW", async () => {
  using closed = app({ config: { outboundAllow: [] } });
  for (const change of [{ url: "http://127.0.0.1:80/" }, { type: "tcp", url: "localhost:22" }]) {
    const { status, body } = await closed.call("POST", MONITORS, { ...http, ...change });
    equal(status, 400);
    match(body.error, /OUTBOUND_ALLOW/);
  }
  using open = app();
  equal((await open.call("POST", MONITORS, { ...http, url: "http://127.0.0.1:80/" })).status, 201);
});

Deno.test("Pro allows 25 monitors and validates the body first", async () => {
  using pro = app();
  for (let i = 0; i < 25; i++) equal((await pro.call("POST", MONITORS, http)).status, 201);
  const over = await pro.call("POST", MONITORS, http);
  equal(over.status, 402);
  deepEqual([over.body.current, over.body.max], [25, 25]);
  equal((await pro.call("POST", MONITORS, { ...http, retries: 9 })).status, 400);
  equal((await pro.call("POST", MONITORS, { ...http, url: "http://[::1]/" })).status, 400);
  equal((await pro.call("GET", "/api/edition")).body.usage.uptime_monitors, 25);
  pro.deps.license.use({
    customer: "test",
    edition: "enterprise",
    expiresAt: new Date("2999-01-01"),
    limits: {},
  });
  equal((await pro.call("POST", MONITORS, http)).status, 201);
});

Deno.test("headers and body are stored encrypted, shown redacted, kept and sent", async () => {
  await using target = fakeReceiver();
  using pro = app();
  const { body: created } = await pro.call("POST", MONITORS, {
    ...http,
    url: target.url,
    method: "POST",
    expected_status: 204,
    headers: { Authorization: "Bearer s3cret-one", "X-Two": "s3cret-two" },
    body: "s3cret-body",
  });
  const hidden = { headers: { Authorization: "********", "X-Two": "********" }, body: "********" };
  const shown = (monitor: Record<string, unknown>) => ({
    headers: monitor.headers,
    body: monitor.body,
  });
  deepEqual(shown(created), hidden);
  ok(!JSON.stringify(pro.deps.db.all("SELECT * FROM uptime_monitors")).includes("s3cret"));

  const changed = await pro.call("PUT", `${MONITORS}/${created.id}`, {
    headers: { authorization: "********", "x-three": "3" },
    body: "********",
  });
  deepEqual(shown(changed.body), {
    headers: { authorization: "********", "x-three": "********" },
    body: "********",
  });
  equal((await pro.call("POST", `${MONITORS}/${created.id}/check`)).body.status, "up");
  const { method, headers, body } = target.received[0]!;
  deepEqual(
    [method, headers["authorization"], headers["x-two"], headers["x-three"], body],
    ["POST", "Bearer s3cret-one", undefined, "3", "s3cret-body"],
  );

  const bare = await pro.call("PUT", `${MONITORS}/${created.id}`, { headers: {}, body: null });
  deepEqual(shown(bare.body), { headers: {}, body: null });
});

Deno.test("headers and body for one origin are not sent to another", async () => {
  using pro = app();
  const { body: { id } } = await pro.call("POST", MONITORS, {
    ...http,
    url: "http://10.0.0.1:8080/health",
    method: "POST",
    headers: { Authorization: "Bearer s3cret" },
    body: "s3cret",
  });
  const change = async (body: unknown) => await pro.call("PUT", `${MONITORS}/${id}`, body);
  const url = "http://10.0.0.2:8080/health";
  for (
    const [told, field] of [
      [{ url }, "headers.Authorization"],
      [{ url, body: "new" }, "headers.Authorization"],
      [{ url, headers: { authorization: "********" }, body: null }, "headers.authorization"],
      [{ url, headers: {} }, "body"],
      [{ url, headers: { Authorization: "new" }, body: "********" }, "body"],
      [{ url: "https://10.0.0.1:8080/health", headers: {} }, "body"],
      [{ url: "http://10.0.0.1/health", headers: {} }, "body"],
    ] as const
  ) {
    const refused = await change(told);
    deepEqual([refused.status, refused.body.error], [
      400,
      `body.${field}: give it again, the address changed`,
    ]);
  }
  const path = await change({ url: "http://10.0.0.1:8080/ready", body: "********" });
  deepEqual([path.status, path.body.url], [200, "http://10.0.0.1:8080/ready"]);
  equal((await change({ url, headers: { Authorization: "new" }, body: null })).status, 200);
});

Deno.test("a monitor with undecryptable secrets is listed, is not checked, and can be deleted", async () => {
  using pro = app();
  const { body: { id } } = await pro.call("POST", MONITORS, { ...http, headers: { a: "b" } });
  pro.deps.secrets = createSecrets({
    jwtSecret: new Uint8Array(32).fill(1),
    secretKey: new Uint8Array(32).fill(9),
  });
  equal((await pro.call("GET", MONITORS)).body.monitors.length, 1);
  const check = await pro.call("POST", `${MONITORS}/${id}/check`);
  equal(check.status, 409);
  match(check.body.error, /SECRET_KEY/);
  equal((await pro.call("GET", `${MONITORS}/${id}/checks`)).body.total, 0);
  equal((await pro.call("DELETE", `${MONITORS}/${id}`)).status, 200);
});

Deno.test("PUT /uptime/monitors/:id changes the given fields and keeps the rest", async () => {
  using pro = app({ now: "2026-03-01T12:00:00Z" });
  const { body: before } = await pro.call("POST", MONITORS, { ...http, keyword: "ok", retries: 3 });
  pro.clock.advance({ seconds: 5 });
  const { status, body } = await pro.call("PUT", `${MONITORS}/${before.id}`, {
    name: "Store",
    keyword: null,
    auto_incident: true,
  });
  equal(status, 200);
  deepEqual(body, {
    ...before,
    name: "Store",
    keyword: null,
    auto_incident: true,
    updated_at: "2026-03-01T12:00:05.000Z",
  });

  const other = await pro.call("PUT", `${MONITORS}/${before.id}`, {
    type: "tcp",
    url: "192.168.7.8:5432",
  });
  deepEqual(
    [other.body.type, other.body.method, other.body.retries, other.body.expected_status],
    ["tcp", null, 3, null],
  );
  const wrong = await pro.call("PUT", `${MONITORS}/${before.id}`, { type: "dns" });
  equal(wrong.status, 400);
  match(wrong.body.error, /^body\.url: not a domain name/);
});

Deno.test("a check is returned, recorded and counted; a second failure opens an outage", async () => {
  let status = 200;
  await using target = fakeReceiver(() => new Response("hello", { status }));
  using pro = app({ now: "2026-03-01T12:00:00Z" });
  const { body: { id } } = await pro.call("POST", MONITORS, { ...http, url: target.url });
  const check = async () =>
    (await pro.call("POST", `${MONITORS}/${id}/check`, undefined, { role: "operator" })).body;
  const shown = async () => (await pro.call("GET", `${MONITORS}/${id}`)).body;

  const good = await check();
  deepEqual({ ...good, response_time_ms: 0 }, {
    monitor_id: id,
    status: "up",
    response_time_ms: 0,
    status_code: 200,
    error: null,
    checked_at: "2026-03-01T12:00:00.000Z",
  });
  ok(Number.isInteger(good.response_time_ms));
  const monitor = await shown();
  deepEqual(
    [monitor.status, monitor.last_checked_at, monitor.last_response_time_ms, monitor.uptime_24h],
    ["up", "2026-03-01T12:00:00.000Z", good.response_time_ms, 100],
  );

  status = 503;
  pro.clock.advance({ minutes: 1 });
  equal((await check()).status, "down");
  equal((await shown()).status, "up");
  pro.clock.advance({ minutes: 1 });
  equal((await check()).error, "The status is 503, not 200");
  equal((await shown()).status, "down");
  pro.clock.advance({ minutes: 1 });

  const outages = await pro.call("GET", `${MONITORS}/${id}/incidents`);
  const [outage] = outages.body.incidents;
  deepEqual(outages.body, {
    incidents: [{
      id: outage.id,
      monitor_id: id,
      monitor_name: "Shop",
      status: "open",
      cause: "The status is 503, not 200",
      started_at: "2026-03-01T12:01:00.000Z",
      resolved_at: null,
      duration_seconds: 120,
    }],
    total: 1,
    limit: 50,
    offset: 0,
  });

  const { body: { stats } } = await pro.call("GET", `${MONITORS}/${id}/stats`);
  deepEqual(Object.keys(stats), ["24h", "7d", "30d"]);
  deepEqual(stats["30d"], {
    uptime_percent: 33.3333,
    avg_response_time_ms: good.response_time_ms,
    p95_response_time_ms: good.response_time_ms,
    total_checks: 3,
    total_downtime_seconds: 120,
  });

  status = 200;
  await check();
  const { body: all } = await pro.call("GET", `${BASE}/incidents?status=resolved`);
  equal(all.incidents[0].resolved_at, "2026-03-01T12:03:00.000Z");
  equal((await pro.call("GET", `${BASE}/incidents?status=open`)).body.total, 0);
  equal((await pro.call("GET", `${BASE}/incidents?monitor_id=${id}`)).body.total, 1);
  equal((await pro.call("GET", `${BASE}/incidents?monitor_id=other`)).body.total, 0);

  const { body: page } = await pro.call("GET", `${MONITORS}/${id}/checks?limit=2&offset=1`);
  deepEqual([page.total, page.limit, page.offset], [4, 2, 1]);
  deepEqual(page.checks.map((each: { checked_at: string }) => each.checked_at.slice(14, 16)), [
    "02",
    "01",
  ]);
});

Deno.test("concurrent checks of one monitor are one check", async () => {
  const answer = Promise.withResolvers<void>();
  await using target = fakeReceiver(async () => (await answer.promise, new Response("late")));
  using pro = app();
  const { body: { id } } = await pro.call("POST", MONITORS, { ...http, url: target.url });
  const checks = Array.from({ length: 5 }, () => pro.call("POST", `${MONITORS}/${id}/check`));
  await until("it is asked", () => target.received.length > 0);
  answer.resolve();
  for (const { status } of await Promise.all(checks)) equal(status, 200);
  equal(target.received.length, 1);
  equal((await pro.call("GET", `${MONITORS}/${id}/checks`)).body.total, 1);
});

for (
  const { what, method, path, body } of [
    { what: "pausing it", method: "POST", path: "/pause", body: undefined },
    { what: "changing it", method: "PUT", path: "", body: { name: "Other" } },
    { what: "deleting it", method: "DELETE", path: "", body: undefined },
  ]
) {
  Deno.test(`${what} cancels a running check, and nothing of it is stored`, async () => {
    const never = Promise.withResolvers<void>();
    await using target = fakeReceiver(async () => (await never.promise, new Response()));
    using pro = app();
    const { body: { id } } = await pro.call("POST", MONITORS, { ...http, url: target.url });
    const checking = pro.call("POST", `${MONITORS}/${id}/check`);
    await until("it is asked", () => target.received.length > 0);
    equal((await pro.call(method, `${MONITORS}/${id}${path}`, body)).status, 200);
    equal((await checking).status, 409);
    equal(pro.deps.metrics.get<{ n: number }>("SELECT count(*) AS n FROM uptime_checks")!.n, 0);
    never.resolve();
  });
}

Deno.test("pause and resume return the monitor; outages of a deleted one are still listed", async () => {
  using pro = app({ now: "2026-03-01T12:00:00Z" });
  const { body: { id } } = await pro.call("POST", MONITORS, {
    ...http,
    type: "tcp",
    url: "127.0.0.1:1",
    retries: 0,
  });
  equal((await pro.call("POST", `${MONITORS}/${id}/check`)).body.status, "down");
  equal((await pro.call("POST", `${MONITORS}/${id}/pause`)).body.status, "paused");
  equal((await pro.call("POST", `${MONITORS}/${id}/resume`)).body.status, "down");
  pro.clock.advance({ seconds: 30 });
  deepEqual((await pro.call("DELETE", `${MONITORS}/${id}`)).body, { ok: true });
  const { body } = await pro.call("GET", `${BASE}/incidents`);
  deepEqual(
    [body.incidents[0].status, body.incidents[0].monitor_name, body.incidents[0].duration_seconds],
    ["resolved", "Shop", 30],
  );
});

for (
  const [method, path, body] of [
    ["GET", "", undefined],
    ["PUT", "", { name: "a" }],
    ["DELETE", "", undefined],
    ["POST", "/pause", undefined],
    ["POST", "/resume", undefined],
    ["POST", "/check", undefined],
    ["GET", "/checks", undefined],
    ["GET", "/stats", undefined],
    ["GET", "/incidents", undefined],
  ] as const
) {
  Deno.test(`${method} /uptime/monitors/:id${path} of an unknown monitor is 404`, async () => {
    using pro = app();
    const { status, body: answer } = await pro.call(method, `${MONITORS}/unknown${path}`, body);
    equal(status, 404);
    equal(answer.error, "Monitor unknown does not exist");
  });
}

Deno.test("viewers read, operators check, admins write, and without a license all is 402", async () => {
  using pro = app();
  const { body: { id } } = await pro.call("POST", MONITORS, {
    ...http,
    url: "http://127.0.0.1:1/",
  });
  const as = async (role: "viewer" | "operator", method: string, path: string, body?: unknown) =>
    (await pro.call(method, `${BASE}${path}`, body, { role })).status;
  for (const path of ["", `/${id}`, `/${id}/checks`, `/${id}/stats`, `/${id}/incidents`]) {
    equal(await as("viewer", "GET", `/monitors${path}`), 200);
  }
  equal(await as("viewer", "GET", "/incidents"), 200);
  equal(await as("viewer", "POST", `/monitors/${id}/check`), 403);
  equal(await as("operator", "POST", `/monitors/${id}/check`), 200);
  equal(await as("operator", "POST", "/monitors", http), 403);
  equal(await as("operator", "PUT", `/monitors/${id}`, { name: "a" }), 403);
  equal(await as("operator", "POST", `/monitors/${id}/pause`), 403);
  equal(await as("operator", "DELETE", `/monitors/${id}`), 403);
  equal((await pro.call("GET", MONITORS, undefined, { role: "public" })).status, 401);
  using ce = testApp();
  equal((await ce.call("GET", MONITORS)).status, 402);
  equal((await ce.call("POST", MONITORS, http)).status, 402);
});

for (const query of ["status=nonsense", "limit=0", "limit=501", "offset=-1", "monitor_id="]) {
  Deno.test(`GET /uptime/incidents refuses ?${query}`, async () => {
    using pro = app();
    equal((await pro.call("GET", `${BASE}/incidents?${query}`)).status, 400);
  });
}

Deno.test("the query of a monitor's address is encrypted, shown redacted, kept and sent", async () => {
  await using system = fakeSystem(() => Response.json({}));
  using pro = app();
  const url = `${system.url}/health?token=s3cret&deep=1`;
  const shown = `${system.url}/health?token=********&deep=********`;
  const { body: monitor } = await pro.call("POST", MONITORS, { ...http, url });
  const path = `${MONITORS}/${monitor.id}`;
  const stored = () => JSON.stringify(pro.deps.db.all("SELECT * FROM uptime_monitors"));
  equal(monitor.url, shown);
  equal(stored().includes("s3cret"), false);
  for (const role of ["viewer", "admin"] as const) {
    equal((await pro.call("GET", path, undefined, { role })).body.url, shown);
  }

  equal((await pro.call("PUT", path, { url: shown, name: "Renamed" })).status, 200);
  equal((await pro.call("PUT", path, { timeout_ms: 3_000 })).status, 200);
  await pro.call("POST", `${path}/check`);
  equal(system.asked.at(-1)!.path, "/health?token=s3cret&deep=1");

  const changed = shown.replace("deep=********", "deep=2").replace("health", "ready");
  equal((await pro.call("PUT", path, { url: changed })).status, 200);
  await pro.call("POST", `${path}/check`);
  equal(system.asked.at(-1)!.path, "/ready?token=s3cret&deep=2");

  for (
    const [given, error] of [
      ["http://127.0.0.9:1/health?token=********", /^body\.url: give it again/],
      [`${system.url}/?other=********`, /^body\.url: .* there is none$/],
    ] as const
  ) {
    const { status, body } = await pro.call("PUT", path, { url: given });
    equal(status, 400);
    match(body.error, error);
  }
});
