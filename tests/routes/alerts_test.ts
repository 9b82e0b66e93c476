import { deepEqual, equal, match } from "node:assert/strict";
import { insertAlertEvent } from "../../db/alert_events.ts";
import { evaluateAlerts } from "../../services/alerts/evaluation.ts";
import { alertOverview, alertVersion } from "../../services/alerts/events.ts";
import { containerOf, setContainers } from "../helpers/fake_containers.ts";
import { sseClient } from "../helpers/sse_client.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const highCpu = {
  name: "High CPU",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90.5,
  durationSeconds: 60,
};

const stopped = {
  name: "Stopped",
  metric: "container_stopped",
  operator: ">=",
  threshold: 1,
  durationSeconds: 0,
};

function setStopped(app: TestApp, isStopped: boolean) {
  const container = containerOf({ name: "web", state: isStopped ? "exited" : "running" });
  setContainers(app, container);
}

Deno.test("POST /api/alerts/rules stores an enabled rule and returns it", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });

  const created = await app.call("POST", "/api/alerts/rules", highCpu);

  equal(created.status, 201);
  deepEqual(created.body, {
    ...highCpu,
    id: created.body.id,
    autoIncident: false,
    enabled: true,
    createdAt: "2026-01-01T12:00:00.000Z",
    duration_seconds: highCpu.durationSeconds,
    created_at: "2026-01-01T12:00:00.000Z",
    condition: "CPU > 90.5 % for 1 min",
    lastFiredAt: null,
    state: "ok",
    severity: "warning",
    scope: { target: { kind: "host" } },
    pattern: null,
    path: null,
    windowSeconds: null,
    forMissingDataSeconds: null,
    problem: "The host was not measured in the last 30 seconds",
    inhibitedBy: null,
  });
  const listed = await app.call("GET", "/api/alerts/rules", undefined, { role: "viewer" });
  deepEqual([listed.status, listed.body], [200, { rules: [created.body] }]);
});

Deno.test("GET /api/alerts/rules lists by name", async () => {
  using app = testApp();
  for (const name of ["load", "CPU", "disk"]) {
    await app.call("POST", "/api/alerts/rules", { ...highCpu, name, autoIncident: true });
  }
  const { body } = await app.call("GET", "/api/alerts/rules");
  deepEqual(
    body.rules.map((rule: typeof body) => [rule.name, rule.autoIncident]),
    [["CPU", true], ["disk", true], ["load", true]],
  );
});

for (
  const [change, error] of [
    [{ name: undefined }, /^body\.name: /],
    [{ name: "  " }, /^body\.name: /],
    [{ name: "x".repeat(101) }, /^body\.name: /],
    [{ metric: "cpu" }, /^body\.metric: must be one of disk_percent, /],
    [{ operator: "!=" }, /^body\.operator: must be one of >, <, >=, <=, ==$/],
    [{ threshold: "90" }, /^body\.threshold: /],
    [{ threshold: null }, /^body\.threshold: /],
    [{ threshold: 1e300 }, /^body\.threshold: /],
    [{ durationSeconds: undefined }, /^body\.durationSeconds: /],
    [{ durationSeconds: -1 }, /^body\.durationSeconds: /],
    [{ durationSeconds: 86_401 }, /^body\.durationSeconds: /],
    [{ durationSeconds: 1.5 }, /^body\.durationSeconds: /],
    [{ autoIncident: "yes" }, /^body\.autoIncident: /],
  ] as const
) {
  Deno.test(`POST /api/alerts/rules refuses ${JSON.stringify(change)}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", "/api/alerts/rules", { ...highCpu, ...change });
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("POST /api/alerts/rules allows 50 rules on CE and validates the body first", async () => {
  using app = testApp();
  for (let n = 0; n < 50; n++) {
    equal((await app.call("POST", "/api/alerts/rules", highCpu)).status, 201);
  }
  const { status, body } = await app.call("POST", "/api/alerts/rules", highCpu);
  deepEqual([status, body], [402, {
    error:
      "Edition limit reached (alert rules): the Community Edition allows 50; delete one or upgrade",
    current: 50,
    max: 50,
    currentEdition: "ce",
    upgradeUrl: body.upgradeUrl,
  }]);
  const bad = await app.call("POST", "/api/alerts/rules", { ...highCpu, metric: "x" });
  equal(bad.status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.alert_rules, 50);
});

Deno.test("POST /api/alerts/rules has no limit on Pro", async () => {
  using app = testApp({ edition: "pro" });
  for (let n = 0; n < 51; n++) {
    equal((await app.call("POST", "/api/alerts/rules", highCpu)).status, 201);
  }
});

Deno.test("PUT /api/alerts/rules/:id changes the given fields", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", highCpu);
  const path = `/api/alerts/rules/${rule.id}`;
  const changed = await app.call("PUT", path, { threshold: 5, operator: "<", autoIncident: true });
  deepEqual([changed.status, changed.body], [
    200,
    {
      ...rule,
      threshold: 5,
      operator: "<",
      autoIncident: true,
      condition: "CPU < 5 % for 1 min",
    },
  ]);
  const wrong = await app.call("PUT", path, { threshold: "5" });
  deepEqual([wrong.status, wrong.body.error.split(":")[0]], [400, "body.threshold"]);
  deepEqual((await app.call("GET", "/api/alerts/rules")).body.rules, [changed.body]);
});

Deno.test("PUT /api/alerts/rules/:id/toggle disables and enables a rule", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", highCpu);
  for (const enabled of [false, false, true]) {
    const { status, body } = await app.call("PUT", `/api/alerts/rules/${rule.id}/toggle`, {
      enabled,
    });
    deepEqual([status, body], [200, { ...rule, enabled, problem: enabled ? rule.problem : null }]);
  }
  const wrong = await app.call("PUT", `/api/alerts/rules/${rule.id}/toggle`, { enabled: 1 });
  equal(wrong.status, 400);
});

Deno.test("DELETE /api/alerts/rules/:id deletes the rule and keeps its events", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", stopped);
  setStopped(app, true);
  evaluateAlerts(app.deps);
  const { status, body } = await app.call("DELETE", `/api/alerts/rules/${rule.id}`);
  deepEqual([status, body], [200, { ok: true }]);
  deepEqual((await app.call("GET", "/api/alerts/rules")).body, { rules: [] });
  const { events } = (await app.call("GET", "/api/alerts/events")).body;
  deepEqual([events.length, events[0].ruleName], [1, "Stopped"]);
});

for (
  const [method, path, body] of [
    ["PUT", "/api/alerts/rules/unknown", { threshold: 1 }],
    ["PUT", "/api/alerts/rules/unknown/toggle", { enabled: true }],
    ["DELETE", "/api/alerts/rules/unknown", undefined],
  ] as const
) {
  Deno.test(`${method} ${path} is 404`, async () => {
    using app = testApp();
    const answer = await app.call(method, path, body);
    deepEqual([answer.status, answer.body], [404, { error: "Alert rule unknown does not exist" }]);
  });
}

Deno.test("one rule and one event can be read", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", highCpu);
  const viewer = { role: "viewer" as const };
  const shown = await app.call("GET", `/api/alerts/rules/${rule.id}`, undefined, viewer);
  deepEqual([shown.status, shown.body], [200, rule]);
  equal((await app.call("GET", "/api/alerts/rules/unknown")).status, 404);

  insertAlertEvent(app.deps.db, {
    id: "e1",
    ruleId: rule.id,
    ruleName: rule.name,
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    value: 95,
    message: "High CPU",
    severity: "warning",
    container: null,
    stack: null,
    firedAt: "2026-01-01T00:00:00.000Z",
    resolvedAt: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    comment: null,
  });
  const { events: [event] } = (await app.call("GET", "/api/alerts/events")).body;
  const one = await app.call("GET", "/api/alerts/events/e1", undefined, viewer);
  deepEqual([one.status, one.body], [200, event]);
  equal((await app.call("GET", "/api/alerts/events/unknown")).status, 404);
});

Deno.test("PUT /api/alerts/rules/:id accepts both names of the duration", async () => {
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/alerts/rules", highCpu);
  const put = async (change: unknown) =>
    (await app.call("PUT", `/api/alerts/rules/${id}`, change)).body.durationSeconds;
  equal(await put({ duration_seconds: 7 }), 7);
  equal(await put({ duration_seconds: 7, durationSeconds: 8 }), 8);
});

Deno.test("GET /api/alerts/events is paged, newest first", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  await app.call("POST", "/api/alerts/rules", stopped);
  for (let n = 0; n < 3; n++) {
    setStopped(app, true);
    evaluateAlerts(app.deps);
    setStopped(app, false);
    evaluateAlerts(app.deps);
    app.clock.advance({ minutes: 15 });
  }
  const { status, body } = await app.call("GET", "/api/alerts/events?limit=2", undefined, {
    role: "viewer",
  });
  equal(status, 200);
  deepEqual(
    body.events.map((event: typeof body) => event.firedAt),
    ["2026-01-01T12:30:00.000Z", "2026-01-01T12:15:00.000Z"],
  );
  deepEqual([body.total, body.limit, body.offset], [3, 2, 0]);
  const last = await app.call("GET", "/api/alerts/events?limit=2&offset=2");
  deepEqual(last.body.events.length, 1);
  equal((await app.call("GET", "/api/alerts/events")).body.limit, 50);
  for (const query of ["limit=0", "limit=501", "limit=x", "offset=-1", "limit=1&limit=2"]) {
    equal((await app.call("GET", `/api/alerts/events?${query}`)).status, 400, query);
  }
});

Deno.test("each alert that fires or resolves changes the version of the alerts frame", async () => {
  using app = testApp();
  const versions = [alertVersion(app.deps)];
  deepEqual(alertOverview(app.deps), { firing: [], recent: [] });
  for (let n = 0; n < 2; n++) {
    await app.call("POST", "/api/alerts/rules", stopped);
    setStopped(app, true);
    evaluateAlerts(app.deps);
    versions.push(alertVersion(app.deps));
  }
  deepEqual(
    [alertOverview(app.deps).firing.length, alertOverview(app.deps).recent.length],
    [2, 2],
  );
  setStopped(app, false);
  evaluateAlerts(app.deps);
  versions.push(alertVersion(app.deps));
  deepEqual(
    [alertOverview(app.deps).firing.length, alertOverview(app.deps).recent.length],
    [0, 2],
  );
  equal(new Set(versions).size, versions.length);
});

Deno.test("a client of the stream gets firing alerts", async () => {
  using app = testApp();
  const firstFrame = async () => {
    const { body } = await app.fetch("GET", "/api/stream?types=alerts");
    const client = sseClient(body!);
    const frame = await client.next();
    await client.cancel();
    return frame;
  };
  deepEqual((await firstFrame())?.data, { firing: [], recent: [] });

  await app.call("POST", "/api/alerts/rules", stopped);
  setStopped(app, true);
  evaluateAlerts(app.deps);
  const { events } = (await app.call("GET", "/api/alerts/events")).body;
  equal(events.length, 1);
  deepEqual((await firstFrame())?.data, { firing: events, recent: events });

  setStopped(app, false);
  evaluateAlerts(app.deps);
  const { firing, recent } = (await firstFrame())?.data;
  deepEqual([firing, recent.length, recent[0].resolvedAt !== null], [[], 1, true]);
});
