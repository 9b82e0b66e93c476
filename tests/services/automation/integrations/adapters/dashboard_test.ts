import { deepEqual, equal } from "node:assert/strict";
import { type Asked, fakeSystem } from "../../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../../helpers/integrations.ts";

const rule = (name: string, state: string, alerts: unknown[] = []) => ({
  uid: `uid-${name}`,
  folderUid: "folder-uid",
  name,
  query: "A",
  type: "alerting",
  state,
  health: "ok",
  labels: { severity: "critical", team: "ops" },
  annotations: { summary: `${name} is bad` },
  alerts,
  lastEvaluation: "2026-03-01T11:59:50Z",
  evaluationTime: 0.01,
});

const firing = rule("Disk full", "firing", [
  { labels: {}, annotations: {}, state: "Alerting", activeAt: "2026-03-01T11:00:00Z", value: "9" },
  { labels: {}, annotations: {}, state: "Normal", activeAt: "2026-02-01T11:00:00Z", value: "" },
]);

const annotation = {
  id: 124,
  alertId: 0,
  alertName: "",
  dashboardId: 468,
  dashboardUID: "uGlb_lG7z",
  panelId: 2,
  userId: 1,
  newState: "",
  prevState: "",
  time: Date.parse("2026-03-01T10:00:00.500Z"),
  timeEnd: Date.parse("2026-03-01T10:00:00.500Z"),
  text: "deployed 1.2.3",
  tags: ["deploy", "web"],
};

function grafana(rules: () => unknown[]) {
  return fakeSystem({
    "/api/prometheus/grafana/api/v1/rules": () => ({
      status: "success",
      data: {
        groups: [{ name: "every minute", file: "Hosts", rules: rules(), interval: 60 }],
        totals: { firing: 1 },
      },
    }),
    "/api/annotations": ({ headers }: Asked) =>
      headers.get("authorization") === "Bearer glsa_key"
        ? [annotation]
        : Response.json({ message: "Invalid API key" }, { status: 401 }),
  });
}

Deno.test("dashboard stores states of alert rules and annotations", async () => {
  const recording = { ...rule("recorded", "x"), type: "recording", state: undefined };
  await using system = grafana(() => [rule("Quiet", "inactive"), firing, recording]);
  using app = integrationsApp();
  const id = await integrate(app, "grafana", { url: system.url, apiKey: "glsa_key" });

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 3, error: null });
  const alert = {
    type: "alert",
    unit: null,
    labels: { severity: "critical", team: "ops", folder: "Hosts", group: "every minute" },
    severity: "critical",
    timestamp: "2026-03-01T12:00:00.000Z",
  };
  deepEqual(data, [
    { ...alert, name: "Quiet", value: 0, status: "inactive", detail: "Quiet is bad" },
    { ...alert, name: "Disk full", value: 1, status: "firing", detail: "Disk full is bad" },
    {
      type: "event",
      name: "deployed 1.2.3",
      value: null,
      unit: null,
      labels: { tags: "deploy,web", dashboard: "uGlb_lG7z", panel: "2" },
      severity: null,
      status: null,
      detail: "deployed 1.2.3",
      timestamp: "2026-03-01T10:00:00.500Z",
    },
  ]);
  const asked = system.asked.find(({ path }) => path.startsWith("/api/annotations"))!;
  deepEqual(Object.fromEntries(asked.query), {
    from: String(Date.parse("2026-02-28T12:00:00Z")),
    to: String(Date.parse("2026-03-01T12:00:00Z")),
    limit: "200",
  });
});

Deno.test("annotations are stored once, and only new ones are requested", async () => {
  await using system = grafana(() => []);
  using app = integrationsApp();
  const id = await integrate(app, "dashboard", { url: system.url, apiKey: "glsa_key" });
  await pollOnce(app, id);
  app.clock.advance({ minutes: 1 });
  const { data } = await pollOnce(app, id);
  equal(data.length, 1);
  const last = system.asked.findLast(({ path }) => path.startsWith("/api/annotations"))!;
  equal(last.query.get("from"), String(Date.parse("2026-03-01T11:50:00Z")));
});

Deno.test("a rule that no longer fires is resolved and inactive again", async () => {
  let rules = [firing];
  await using system = grafana(() => rules);
  using app = integrationsApp();
  const id = await integrate(app, "dashboard", { url: system.url, apiKey: "glsa_key" });
  await pollOnce(app, id);
  app.clock.advance({ minutes: 1 });
  rules = [rule("Disk full", "inactive")];
  const { data } = await pollOnce(app, id);
  deepEqual(
    data.filter(({ type }) => type === "alert").map(({ status }) => status).sort(),
    ["inactive", "resolved"],
  );
});

Deno.test("testing a dashboard integration detects an invalid key", async () => {
  await using system = grafana(() => []);
  using app = integrationsApp();
  const id = await integrate(app, "dashboard", { url: system.url, apiKey: "wrong" });
  const { body } = await app.call("POST", `/api/integrations/${id}/test`);
  deepEqual([body.ok, body.error], [
    false,
    "The system answered with status 401 (check the credentials)",
  ]);
});
