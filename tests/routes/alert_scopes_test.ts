import { deepEqual, equal, match } from "node:assert/strict";
import { evaluateAlerts } from "../../services/alerts/evaluation.ts";
import { alertVersion } from "../../services/alerts/events.ts";
import { ALERT_METRIC_IDS } from "../../services/alerts/metrics/mod.ts";
import { ALERT_TEMPLATES } from "../../services/alerts/recommended.ts";
import { containerOf, setContainers } from "../helpers/fake_containers.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const operator = { role: "operator" as const };
const viewer = { role: "viewer" as const };

const cpuOfWeb = {
  name: "CPU of web",
  metric: "container_cpu_percent",
  operator: ">",
  threshold: 90,
  durationSeconds: 60,
  severity: "critical",
  scope: { target: { kind: "containers", containers: ["web*"], labels: { tier: "front" } } },
  forMissingDataSeconds: 300,
};

function stop(app: TestApp, ...names: string[]) {
  const containers = names.map((name) => containerOf({ name, state: "exited", exitCode: 1 }));
  setContainers(app, ...containers);
  evaluateAlerts(app.deps);
}

async function fire(app: TestApp, ...names: string[]) {
  const created = await app.call("POST", "/api/alerts/rules", {
    name: "Down",
    metric: "container_not_running",
    operator: "==",
    threshold: 1,
    durationSeconds: 0,
  });
  equal(created.status, 201);
  stop(app, ...names);
  return (await app.call("GET", "/api/alerts/active", undefined, viewer)).body.alerts;
}

Deno.test("POST /api/alerts/rules stores the scope and the options", async () => {
  using app = testApp();
  const { status, body } = await app.call("POST", "/api/alerts/rules", cpuOfWeb);
  equal(status, 201);
  const { id: _id, autoIncident: _a, createdAt: _c, enabled: _e, ...shown } = body;
  const { duration_seconds: _d, created_at: _ca, lastFiredAt: _l, state: _s, ...rest } = shown;
  deepEqual(rest, {
    ...cpuOfWeb,
    pattern: null,
    path: null,
    windowSeconds: null,
    condition: "CPU of a container > 90 % for 1 min",
    problem: "The engine is unreachable",
    inhibitedBy: null,
  });
});

Deno.test("a metric of containers watches all of them by default, and counts five minutes", async () => {
  using app = testApp();
  const { body } = await app.call("POST", "/api/alerts/rules", {
    ...{ name: "Restarts", metric: "container_restarts", operator: ">", threshold: 2 },
    durationSeconds: 0,
  });
  deepEqual([body.scope, body.windowSeconds, body.severity], [
    { target: { kind: "containers" } },
    300,
    "warning",
  ]);
});

const LOGS = { ...cpuOfWeb, metric: "container_log_matches", scope: undefined };

Deno.test("a rule about log lines is for callers who may read logs", async () => {
  using app = testApp();
  const rule = { ...LOGS, name: "secrets", pattern: "^PASSWORD=a" };
  const { body: { id } } = await app.call("POST", "/api/alerts/rules", rule);
  const ask = async (permissions: string[]) => {
    const scope = { permissions };
    return [
      await app.call("POST", "/api/alerts/rules/test", { ...rule, name: "other" }, { scope }),
      await app.call("POST", "/api/alerts/rules", { ...rule, name: "other" }, { scope }),
      await app.call("PUT", `/api/alerts/rules/${id}`, { pattern: "^PASSWORD=b" }, { scope }),
    ].map(({ status }) => status);
  };

  deepEqual(await ask(["alerts:write"]), [403, 403, 403]);
  deepEqual(await ask(["alerts:write", "containers:logs"]), [200, 201, 200]);
});

for (
  const [rule, error] of [
    [
      { ...cpuOfWeb, scope: { target: { kind: "host" } } },
      "body.scope.target.kind: container_cpu_percent is measured for containers; set it to containers",
    ],
    [
      { ...cpuOfWeb, metric: "cpu_percent" },
      "body.scope.target.kind: cpu_percent is measured for the host; set it to host",
    ],
    [
      { ...cpuOfWeb, path: "/srv" },
      "body.path: is not used by container_cpu_percent; leave it out",
    ],
    [
      { ...cpuOfWeb, windowSeconds: 60 },
      "body.windowSeconds: is not used by container_cpu_percent; leave it out",
    ],
    [LOGS, "body.pattern: is required for container_log_matches"],
    [{ ...LOGS, pattern: "(a+)+$" }, /^body\.pattern: Pattern can backtrack catastrophically/],
    [{ ...LOGS, pattern: "(" }, /^body\.pattern: Invalid pattern/],
    [{ ...LOGS, pattern: "x".repeat(201) }, /^body\.pattern: /],
    [{ ...cpuOfWeb, severity: "fatal" }, /^body\.severity: /],
    [{ ...cpuOfWeb, forMissingDataSeconds: 1 }, /^body\.forMissingDataSeconds: /],
    [{ ...cpuOfWeb, scope: { target: { kind: "stack" } } }, /^body\.scope\.target/],
    [{ ...cpuOfWeb, scope: { target: { kind: "containers", containers: [] } } }, /containers/],
    [{ ...cpuOfWeb, scope: { target: { kind: "containers", image: "x" } } }, /image/],
    [{ ...cpuOfWeb, metric: "disk_percent", scope: undefined, path: "srv" }, /^body\.path: /],
  ] as [unknown, string | RegExp][]
) {
  Deno.test(`POST /api/alerts/rules refuses: ${error}`, async () => {
    using app = testApp();
    for (const path of ["/api/alerts/rules", "/api/alerts/rules/test"]) {
      const { status, body } = await app.call("POST", path, rule);
      equal(status, 400);
      if (typeof error === "string") equal(body.error, error);
      else match(body.error, error);
    }
  });
}

Deno.test("a rule that gets another metric loses what that metric does not have", async () => {
  using app = testApp();
  const { body: rule } = await app.call("POST", "/api/alerts/rules", {
    ...LOGS,
    pattern: "error",
    windowSeconds: 60,
  });
  const path = `/api/alerts/rules/${rule.id}`;
  const { status, body } = await app.call("PUT", path, { metric: "load_1" });
  equal(status, 200);
  deepEqual([body.scope, body.pattern, body.windowSeconds], [
    { target: { kind: "host" } },
    null,
    null,
  ]);
  equal((await app.call("PUT", path, { pattern: "(a+)+$" })).status, 400);
  // A rule can be sent back as it was read.
  equal((await app.call("PUT", path, body)).status, 200);
});

Deno.test("GET /api/alerts/active lists the alerts of every container", async () => {
  using app = testApp();
  const alerts = await fire(app, "web", "db");
  deepEqual(
    alerts.map(({ container, severity, resolvedAt }: Record<string, unknown>) => [
      ...[container, severity, resolvedAt],
    ]).sort(),
    [["db", "warning", null], ["web", "warning", null]],
  );
  stop(app, "db");
  app.clock.advance({ minutes: 2 });
  stop(app, "db");
  const { body } = await app.call("GET", "/api/alerts/active");
  deepEqual(body.alerts.map(({ container }: { container: string }) => container), ["db"]);
});

Deno.test("an alert says that it is silenced, and a rule that all of its alerts are", async () => {
  using app = testApp();
  const [{ ruleId }] = await fire(app, "web", "db");
  const read = async () => {
    const { alerts } = (await app.call("GET", "/api/alerts/active")).body;
    return [
      (await app.call("GET", `/api/alerts/rules/${ruleId}`)).body.inhibitedBy,
      Object.fromEntries(
        alerts.map((alert: Record<string, unknown>) => [alert.container, alert.inhibitedBy]),
      ),
    ];
  };
  deepEqual(await read(), [null, { web: null, db: null }]);
  const silence = {
    matchers: { container: "web" },
    endsAt: new Date(app.clock.now().getTime() + 60_000),
  };
  const { body: { id } } = await app.call("POST", "/api/silences", silence);
  deepEqual(await read(), [null, { web: "silence", db: null }]);
  await app.call("PUT", `/api/silences/${id}`, { matchers: { rule: ruleId } });
  deepEqual(await read(), ["silence", { web: "silence", db: "silence" }]);
  app.deps.maintenance.set({ enabled: true, until: null, reason: null });
  deepEqual(await read(), ["maintenance", { web: "maintenance", db: "maintenance" }]);
});

Deno.test("an operator acknowledges an alert, which stays active", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const [alert] = await fire(app, "web");
  const path = `/api/alerts/events/${alert.id}/acknowledge`;
  equal((await app.call("POST", path, {}, viewer)).status, 403);
  const before = alertVersion(app.deps);

  const first = await app.call("POST", path, { comment: "Looking" }, operator);
  equal(first.status, 200);
  equal(first.body.acknowledgedAt, "2026-01-01T12:00:00.000Z");
  deepEqual([typeof first.body.acknowledgedBy, first.body.comment], ["string", "Looking"]);
  equal(alertVersion(app.deps) === before, false);
  app.clock.advance({ minutes: 1 });
  const second = await app.call("POST", path, undefined, operator);
  deepEqual(
    [second.body.acknowledgedAt, second.body.comment],
    ["2026-01-01T12:01:00.000Z", null],
  );
  const { body: { alerts } } = await app.call("GET", "/api/alerts/active");
  deepEqual(alerts, [{ ...second.body, inhibitedBy: null }]);
  const { body: audit } = await app.call("GET", "/api/audit");
  match(JSON.stringify(audit), /acknowledge/);
});

Deno.test("an alert that is resolved or unknown cannot be acknowledged", async () => {
  using app = testApp();
  const [alert] = await fire(app, "web");
  stop(app);
  app.clock.advance({ minutes: 2 });
  stop(app);
  const resolved = await app.call("POST", `/api/alerts/events/${alert.id}/acknowledge`, {});
  deepEqual(
    [resolved.status, resolved.body.error],
    [409, `Alert event ${alert.id} is already resolved`],
  );
  equal((await app.call("POST", "/api/alerts/events/unknown/acknowledge", {})).status, 404);
  const long = { comment: "x".repeat(1_001) };
  equal((await app.call("POST", `/api/alerts/events/${alert.id}/acknowledge`, long)).status, 400);
});

Deno.test("GET /api/alerts/metrics describes every metric to viewers", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/alerts/metrics", undefined, viewer);
  equal(status, 200);
  deepEqual(body.metrics.map(({ id }: { id: string }) => id), ALERT_METRIC_IDS);
  deepEqual(body.metrics.find(({ id }: { id: string }) => id === "container_restarts"), {
    id: "container_restarts",
    group: "Containers",
    words: "restarts",
    title: "Restarts of a container",
    description:
      "Restarts within windowSeconds; those before Longshore's start as the engine knows",
    unit: null,
    target: "containers",
    isState: false,
    hasPath: false,
    hasPattern: false,
    operator: ">=",
    threshold: 3,
    windowSeconds: 300,
  });
});

Deno.test("each template can be created and tested as it is", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/alerts/templates", undefined, viewer);
  equal(status, 200);
  equal(body.templates.length, ALERT_TEMPLATES.length);
  for (const { rule } of body.templates) {
    equal((await app.call("POST", "/api/alerts/rules/test", rule)).status, 200, rule.name);
    const created = await app.call("POST", "/api/alerts/rules", rule);
    equal(created.status, 201, rule.name);
    for (const [field, value] of Object.entries(rule)) deepEqual(created.body[field], value);
  }
  const names = new Set(body.templates.map(({ rule }: { rule: { name: string } }) => rule.name));
  equal(names.size, ALERT_TEMPLATES.length);
});

Deno.test("POST /api/alerts/rules/test stores nothing and is for admins", async () => {
  using app = testApp();
  stop(app, "web");
  const rule = {
    ...{ name: "Down", metric: "container_not_running", operator: "==", threshold: 1 },
    durationSeconds: 0,
  };
  const tested = await app.call("POST", "/api/alerts/rules/test", rule);
  deepEqual([tested.status, tested.body], [
    200,
    {
      ...{
        wouldFire: true,
        value: 1,
        valueText: "yes",
        since: null,
        firesAt: null,
        firings24h: null,
      },
      containers: ["web"],
      problem: null,
    },
  ]);
  deepEqual((await app.call("GET", "/api/alerts/rules")).body, { rules: [] });
  equal((await app.call("POST", "/api/alerts/rules/test", rule, operator)).status, 403);
});
