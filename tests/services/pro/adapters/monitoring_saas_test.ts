import { deepEqual, equal, match } from "node:assert/strict";
import { type Asked, fakeSystem } from "../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../helpers/integrations.ts";

const monitor = (id: number, overall_state: string) => ({
  id,
  org_id: 1,
  type: "query alert",
  name: `monitor ${id}`,
  message: "tell @ops",
  query: "avg(last_5m):avg:system.cpu.user{*} > 90",
  tags: ["env:prod", "team:ops"],
  priority: 2,
  overall_state,
  overall_state_modified: "2026-03-01T11:40:00.000000+00:00",
  options: {},
});

const event = {
  id: 6509757187482312704,
  id_str: "6509757187482312753",
  title: "Deployed",
  text: "Version 1.2.3",
  date_happened: Date.parse("2026-03-01T11:00:00Z") / 1000,
  priority: "normal",
  alert_type: "info",
  host: "web1",
  source: "ci",
  tags: ["env:prod"],
};

const keys = { apiKey: "the-api-key", appKey: "the-app-key" };

function datadog(states: () => string[]) {
  return fakeSystem({
    "/api/v1/monitor": ({ query, headers }: Asked) => {
      if (headers.get("dd-api-key") !== keys.apiKey) {
        return Response.json({ errors: ["Forbidden"] }, { status: 403 });
      }
      const [page, size] = [Number(query.get("page")), Number(query.get("page_size"))];
      return states().map((state, n) => monitor(n + 1, state))
        .slice(page * size, (page + 1) * size);
    },
    "/api/v1/events": () => ({ events: [event] }),
  });
}

Deno.test("monitoring-saas stores the states of monitors, and events", async () => {
  await using system = datadog(() => ["OK", "Alert"]);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "datadog", { ...keys, api_url: system.url });

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 3, error: null });
  const alert = {
    type: "alert",
    value: null,
    unit: null,
    detail: "avg(last_5m):avg:system.cpu.user{*} > 90",
    timestamp: "2026-03-01T12:00:00.000Z",
  };
  const labels = { type: "query alert", priority: "P2", tags: "env:prod,team:ops" };
  deepEqual(data, [
    {
      ...alert,
      name: "monitor 1",
      labels: { monitor_id: "1", ...labels },
      severity: null,
      status: "ok",
    },
    {
      ...alert,
      name: "monitor 2",
      labels: { monitor_id: "2", ...labels },
      severity: "critical",
      status: "alert",
    },
    {
      type: "event",
      name: "Deployed",
      value: null,
      unit: null,
      labels: { source: "ci", host: "web1", tags: "env:prod" },
      severity: "info",
      status: null,
      detail: "Version 1.2.3",
      timestamp: "2026-03-01T11:00:00.000Z",
    },
  ]);
  deepEqual(
    system.asked.map(({ headers }) => headers.get("dd-application-key")),
    ["the-app-key", "the-app-key"],
  );
  deepEqual(Object.fromEntries(system.asked.at(-1)!.query), {
    start: String(Date.parse("2026-02-28T12:00:00Z") / 1000),
    end: String(Date.parse("2026-03-01T12:00:00Z") / 1000),
  });
});

Deno.test("monitors are read page by page; recovered ones are resolved", async () => {
  let states = Array.from({ length: 250 }, (_, n) => n === 240 ? "Warn" : "OK");
  await using system = datadog(() => states);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "monitoring-saas", { ...keys, api_url: system.url });
  equal((await pollOnce(app, id)).outcome.records, 251);

  app.clock.advance({ minutes: 1 });
  states = states.map(() => "OK");
  await pollOnce(app, id);
  const { data } = (await app.call("GET", `/api/integrations/${id}/data?limit=500`)).body;
  deepEqual(
    data.filter(({ name }: { name: string }) => name === "monitor 241")
      .map(({ status }: { status: string }) => status).sort(),
    ["ok", "resolved"],
  );
});

Deno.test("testing monitoring-saas detects wrong keys", async () => {
  await using system = datadog(() => []);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "datadog", { ...keys, apiKey: "x", api_url: system.url });
  const { body } = await app.call("POST", `/api/integrations/${id}/test`);
  match(body.error, /status 403 \(the credentials lack a permission\)/);
});

for (const site of ["datadoghq.com.evil.example", "evil.example", "datadoghq.com/x", "a@b"]) {
  Deno.test(`monitoring-saas sends no keys to the site ${site}`, async () => {
    using app = integrationsApp({ edition: "pro" });
    const config = { ...keys, site };
    const answer = await app.call("POST", "/api/integrations", {
      adapter: "datadog",
      name: "x",
      config,
    });
    equal(answer.status, 400);
    match(answer.body.error, /^body\.config\.site: must be one of Datadog's sites/);
  });
}
