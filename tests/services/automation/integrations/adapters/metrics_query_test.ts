import { deepEqual, equal } from "node:assert/strict";
import { type Asked, fakeSystem } from "../../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../../helpers/integrations.ts";

const AT = Date.parse("2026-03-01T11:59:58.250Z") / 1000;

const vector = (...result: unknown[]) => ({
  status: "success",
  data: { resultType: "vector", result },
});

const queryAnswers: Record<string, unknown> = {
  up: vector(
    { metric: { __name__: "up", instance: "a:9100", job: "node" }, value: [AT, "1"] },
    { metric: { __name__: "up", instance: "b:9100", job: "node" }, value: [AT, "0"] },
  ),
  "sum(rate(x[5m]))": vector({ metric: {}, value: [AT, "12.5"] }),
  "1 / 0": vector({ metric: { zone: "a" }, value: [AT, "+Inf"] }),
  "42": { status: "success", data: { resultType: "scalar", result: [AT, "42"] } },
};

const highLoad = {
  labels: { alertname: "HighLoad", instance: "a:9100", severity: "warning" },
  annotations: { summary: "The load is high", description: "more" },
  state: "pending",
  activeAt: "2026-03-01T11:50:00.123456789Z",
  value: "7.5e+00",
};

/** Answers like Prometheus, including its errors. */
function prometheus(alerts: () => unknown[]) {
  return fakeSystem({
    "/prefix/api/v1/query": ({ query }: Asked) =>
      queryAnswers[query.get("query")!] ?? Response.json({
        status: "error",
        errorType: "bad_data",
        error: 'invalid parameter "query": 1:4: parse error: secret host name',
      }, { status: 400 }),
    "/prefix/api/v1/alerts": () => ({ status: "success", data: { alerts: alerts() } }),
  });
}

Deno.test("metrics-query stores target states, configured queries and active alerts", async () => {
  await using system = prometheus(() => [highLoad]);
  using app = integrationsApp();
  const id = await integrate(app, "prometheus", {
    url: `${system.url}/prefix/`,
    bearerToken: "the-token",
    queries: [
      { name: "requests", query: "sum(rate(x[5m]))", unit: "1/s" },
      { name: "endless", query: "1 / 0" },
      { name: "answer", query: "42" },
    ],
  });

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 6, error: null });
  const nothing = { value: null, unit: null, labels: {}, severity: null, status: null };
  const metric = {
    ...nothing,
    type: "metric",
    detail: null,
    timestamp: "2026-03-01T11:59:58.250Z",
  };
  deepEqual(data, [
    {
      type: "alert",
      name: "HighLoad",
      value: 7.5,
      unit: null,
      labels: { instance: "a:9100" },
      severity: "warning",
      status: "pending",
      detail: "The load is high",
      timestamp: "2026-03-01T12:00:00.000Z",
    },
    { ...metric, name: "up", value: 0, labels: { instance: "b:9100", job: "node" } },
    { ...metric, name: "up", value: 1, labels: { instance: "a:9100", job: "node" } },
    { ...metric, name: "answer", value: 42 },
    { ...metric, name: "endless", labels: { zone: "a" } },
    { ...metric, name: "requests", value: 12.5, unit: "1/s" },
  ]);
  deepEqual(
    [...new Set(system.asked.map(({ headers }) => headers.get("authorization")))],
    ["Bearer the-token"],
  );
});

Deno.test("a query without a name is named after its expression", async () => {
  await using system = prometheus(() => []);
  using app = integrationsApp();
  const id = await integrate(app, "prometheus", {
    url: `${system.url}/prefix`,
    queries: ["42", { name: "requests", query: "sum(rate(x[5m]))" }],
  });

  const { data } = await pollOnce(app, id);

  deepEqual(
    data.filter(({ name }) => name !== "up").map(({ name, value }) => [name, value]),
    [["requests", 12.5], ["42", 42]],
  );
  const { config } = (await app.call("GET", `/api/integrations/${id}`)).body;
  deepEqual(config.queries[0], { name: "42", query: "42" });
});

Deno.test("an alert is one record from pending to resolved", async () => {
  let alerts: unknown[] = [highLoad];
  await using system = prometheus(() => alerts);
  using app = integrationsApp();
  const id = await integrate(app, "metrics-query", { url: `${system.url}/prefix` });
  const alertsNow = async () => {
    const { data } = (await app.call("GET", `/api/integrations/${id}/data?type=alert`)).body;
    return data.map(({ name, status, timestamp }: Record<string, string>) =>
      `${name} ${status} ${timestamp!.slice(11, 19)}`
    );
  };

  await pollOnce(app, id);
  deepEqual(await alertsNow(), ["HighLoad pending 12:00:00"]);

  app.clock.advance({ minutes: 1 });
  alerts = [{ ...highLoad, state: "firing" }];
  await pollOnce(app, id);
  deepEqual(await alertsNow(), ["HighLoad firing 12:01:00"]);

  app.clock.advance({ minutes: 1 });
  alerts = [];
  await pollOnce(app, id);
  app.clock.advance({ minutes: 1 });
  await pollOnce(app, id);
  deepEqual(await alertsNow(), ["HighLoad resolved 12:02:00"]);

  // An alert that fires again later is a new alert.
  alerts = [{ ...highLoad, activeAt: "2026-03-01T12:02:30Z" }];
  await pollOnce(app, id);
  deepEqual(await alertsNow(), ["HighLoad pending 12:03:00", "HighLoad resolved 12:02:00"]);
});

Deno.test("a refused query does not affect others, and the system's text is not stored", async () => {
  await using system = prometheus(() => []);
  using app = integrationsApp();
  const id = await integrate(app, "metrics-query", {
    url: `${system.url}/prefix`,
    queries: [{ name: "wrong", query: "sum(" }, { name: "answer", query: "42" }],
  });
  const { outcome } = await pollOnce(app, id);
  deepEqual(outcome, {
    ok: false,
    records: 3,
    error: "wrong: The query was refused (bad_data)",
  });
  const { last_status, last_error } = (await app.call("GET", `/api/integrations/${id}`)).body;
  deepEqual({ last_status, last_error }, { last_status: "error", last_error: outcome.error });
});

Deno.test("a query without instant values is an error", async () => {
  await using system = fakeSystem({
    "/api/v1/query": ({ query }: Asked) =>
      query.get("query") === "up"
        ? vector()
        : { status: "success", data: { resultType: "matrix", result: [] } },
    "/api/v1/alerts": () => ({ status: "success", data: { alerts: [] } }),
  });
  using app = integrationsApp();
  const id = await integrate(app, "metrics-query", {
    url: system.url,
    queries: [{ name: "range", query: "up[5m]" }],
  });
  equal(
    (await pollOnce(app, id)).outcome.error,
    "range: The query returns a matrix, not one value per series",
  );
});

for (
  const { what, answer, error } of [
    {
      what: "rejects the credentials",
      answer: () => new Response("internal secret", { status: 401 }),
      error: "The system answered with status 401 (check the credentials)",
    },
    {
      what: "redirects to its login page",
      answer: () => new Response(null, { status: 302, headers: { location: "/login" } }),
      error:
        "The system answered with status 302 (redirects are not followed; enter the final address)",
    },
    {
      what: "answers with HTML",
      answer: () => new Response("<html>internal secret</html>"),
      error: "The system's answer is not JSON; check the address",
    },
    {
      what: "answers with unexpected JSON",
      answer: () => ({ status: "success", data: { "internal secret": 1 } }),
      error: "The system's answer is not as expected at data.alerts; check the address",
    },
    {
      what: "answers with a response that is too large",
      answer: () => new Response(new Uint8Array(3 * 1024 * 1024)),
      error: "The answer is larger than the 2097152 bytes allowed",
    },
  ]
) {
  Deno.test(`a system that ${what} fails the poll without exposing its response`, async () => {
    await using system = fakeSystem(answer);
    using app = integrationsApp();
    const id = await integrate(app, "metrics-query", { url: system.url });
    const { outcome, data } = await pollOnce(app, id);
    deepEqual({ outcome, data }, { outcome: { ok: false, records: 0, error }, data: [] });
  });
}

Deno.test("at most 1,000 records of a poll are stored, alerts first", async () => {
  await using system = fakeSystem({
    "/api/v1/query": () =>
      vector(
        ...Array.from({ length: 3_000 }, (_, n) => ({ metric: { n: `${n}` }, value: [AT, "1"] })),
      ),
    "/api/v1/alerts": () => ({ status: "success", data: { alerts: [highLoad] } }),
  });
  using app = integrationsApp();
  const id = await integrate(app, "metrics-query", { url: system.url });
  const { outcome } = await pollOnce(app, id);
  deepEqual(outcome, { ok: true, records: 1_000, error: null });
  const { data } = (await app.call("GET", `/api/integrations/${id}/data?type=alert`)).body;
  equal(data.length, 1);
});

Deno.test("testing a metrics-query integration sends one request", async () => {
  await using system = prometheus(() => []);
  using app = integrationsApp();
  const id = await integrate(app, "metrics-query", { url: `${system.url}/prefix` });
  const { body } = await app.call("POST", `/api/integrations/${id}/test`);
  deepEqual({ ...body, latency_ms: 0 }, { ok: true, latency_ms: 0, error: null });
  deepEqual(system.asked.map(({ path }) => path), ["/prefix/api/v1/query?query=up"]);
  equal((await app.call("GET", `/api/integrations/${id}`)).body.last_status, "never");
});
