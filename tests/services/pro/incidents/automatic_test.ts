import { deepEqual, equal, throws } from "node:assert/strict";
import { insertAlertRule } from "../../../../db/alert_rules.ts";
import { insertOutage, updateOutageResolved } from "../../../../db/pro/uptime/outages.ts";
import { insertMonitor } from "../../../../db/pro/uptime/monitors.ts";
import { evaluateAlerts } from "../../../../services/alerts/evaluation.ts";
import { changeAlertRule, removeAlertRule } from "../../../../services/alerts/rules.ts";
import { emit } from "../../../../services/events/emit.ts";
import type { AppEvent } from "../../../../services/events/events.ts";
import { resolveOrphanedIncidents } from "../../../../services/pro/incidents/automatic.ts";
import {
  getIncident,
  listIncidents,
  sweepIncidents,
} from "../../../../services/pro/incidents/incidents.ts";
import { reconcileIncidents } from "../../../../services/pro/incidents/worker.ts";
import { containerOf, setContainers } from "../../../helpers/fake_containers.ts";
import { openTestDatabase, type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const AT = "2026-01-01T12:00:00.000Z";

const proApp = () => testApp({ edition: "pro", now: AT });

function monitor(app: TestApp, autoIncident = true): void {
  insertMonitor(app.deps.db, {
    id: "m1",
    name: "Shop",
    type: "tcp",
    url: "shop.example.com:443",
    method: null,
    expectedStatus: null,
    keyword: null,
    recordType: null,
    expected: null,
    timeoutMs: 5_000,
    intervalSeconds: 60,
    retries: 1,
    sealed: null,
    autoIncident,
    paused: false,
    status: "pending",
    createdAt: AT,
    updatedAt: AT,
  });
}

function goDown(app: TestApp, outageId = "o1", { again = false } = {}): void {
  const data = { monitor: "Shop", monitorId: "m1", outageId, cause: "connection refused" };
  emit(app.deps, "monitor.down", data, () => {
    if (again) return;
    insertOutage(app.deps.db, {
      id: outageId,
      monitorId: "m1",
      monitorName: "Shop",
      cause: "connection refused",
      startedAt: app.deps.now().toISOString(),
      resolvedAt: null,
    });
  });
}

function comeUp(app: TestApp, outageId = "o1"): void {
  const data = { monitor: "Shop", monitorId: "m1", outageId, downtimeSeconds: 60 };
  emit(app.deps, "monitor.up", data, () => {
    updateOutageResolved(app.deps.db, outageId, app.deps.now().toISOString());
  });
}

function rule(app: TestApp, autoIncident = true): void {
  insertAlertRule(app.deps.db, {
    id: "r1",
    name: "Something stopped",
    metric: "container_stopped",
    operator: ">",
    threshold: 0,
    durationSeconds: 0,
    severity: "warning",
    scope: { target: { kind: "host" } },
    pattern: null,
    path: null,
    windowSeconds: null,
    forMissingDataSeconds: null,
    autoIncident,
    enabled: true,
    createdAt: AT,
  });
}

function setStopped(app: TestApp, isStopped: boolean) {
  const container = containerOf({ name: "web", state: isStopped ? "exited" : "running" });
  setContainers(app, container);
  evaluateAlerts(app.deps);
}

const incidents = ({ deps }: TestApp) =>
  listIncidents(deps, { limit: 500, offset: 0 }).incidents
    .map(({ title, severity, status, source, source_id }) => [
      title,
      severity,
      status,
      source,
      source_id,
    ]);

const timelineOf = ({ deps }: TestApp) => {
  const [incident] = listIncidents(deps, { limit: 1, offset: 0 }).incidents;
  return getIncident(deps, incident!.id).timeline
    .map(({ type, message, author }) => [type, message, author]);
};

function collect(app: TestApp): string[] {
  const seen: string[] = [];
  app.deps.events.publish = ({ event }: AppEvent) => void seen.push(event);
  return seen;
}

Deno.test("a monitor with auto_incident opens an incident and resolves it when the monitor is up", () => {
  using app = proApp();
  monitor(app);
  const events = collect(app);

  goDown(app);
  deepEqual(incidents(app), [["Shop is down", "major", "open", "monitor", "m1"]]);
  app.clock.advance({ minutes: 1 });
  comeUp(app);

  deepEqual(incidents(app), [["Shop is down", "major", "resolved", "monitor", "m1"]]);
  deepEqual(timelineOf(app), [
    [
      "status_change",
      "Status changed from open to resolved: Shop is up again after 60 s",
      "system",
    ],
    ["status_change", "Incident opened: connection refused", "system"],
  ]);
  deepEqual(events, ["monitor.down", "incident.created", "monitor.up", "incident.resolved"]);
});

Deno.test("without auto_incident no incident is opened", () => {
  using app = proApp();
  monitor(app, false);
  rule(app, false);
  goDown(app);
  setStopped(app, true);
  deepEqual(incidents(app), []);
});

Deno.test("an alert rule with autoIncident opens an incident and resolves it when the alert ends", () => {
  using app = proApp();
  rule(app);
  const events = collect(app);
  setStopped(app, true);
  deepEqual(incidents(app), [["Something stopped", "major", "open", "alert", "r1"]]);
  setStopped(app, true);
  setStopped(app, false);
  deepEqual(incidents(app), [["Something stopped", "major", "resolved", "alert", "r1"]]);
  deepEqual(events, ["alert.fired", "incident.created", "alert.resolved", "incident.resolved"]);
  deepEqual(timelineOf(app)[1], [
    "status_change",
    "Incident opened: The number of stopped containers is 1 (limit: above 0): web",
    "system",
  ]);
});

for (
  const [what, end] of [
    ["deleted", (app: TestApp) => removeAlertRule(app.deps, "r1")],
    ["turned off", (app: TestApp) => changeAlertRule(app.deps, "r1", { enabled: false })],
  ] as const
) {
  Deno.test(`an alert rule that is ${what} resolves its incident`, () => {
    using app = proApp();
    rule(app);
    setStopped(app, true);
    end(app);
    deepEqual(incidents(app).map(([, , status]) => status), ["resolved"]);
  });
}

Deno.test("a rule still resolves its incident after autoIncident was turned off", () => {
  using app = proApp();
  rule(app);
  setStopped(app, true);
  changeAlertRule(app.deps, "r1", { autoIncident: false });
  setStopped(app, false);
  deepEqual(incidents(app).map(([, , status]) => status), ["resolved"]);
});

Deno.test("an outage has one incident even if its event is repeated; the next outage has its own", () => {
  using app = proApp();
  monitor(app);
  const events = collect(app);
  goDown(app);
  goDown(app, "o1", { again: true });
  equal(incidents(app).length, 1);
  equal(events.filter((event) => event === "incident.created").length, 1);
  comeUp(app);
  app.clock.advance({ minutes: 5 });
  goDown(app, "o2");
  deepEqual(incidents(app).map(([, , status]) => status), ["open", "resolved"]);
});

Deno.test("an incident is stored with its outage, or neither is", () => {
  using app = proApp();
  monitor(app);
  goDown(app);
  app.deps.db.run("UPDATE outages SET resolved_at = started_at");
  const data = { monitor: "Shop", monitorId: "m1", outageId: "o2", cause: "x" };
  throws(() =>
    emit(app.deps, "monitor.down", data, () => {
      throw new Error("the disk is full");
    })
  );
  equal(incidents(app).length, 1);
});

Deno.test("maintenance does not prevent incidents from being opened and resolved", () => {
  using app = proApp();
  monitor(app);
  app.deps.maintenance.set({ enabled: true, until: null, reason: null });
  goDown(app);
  equal(incidents(app).length, 1);
  comeUp(app);
  deepEqual(incidents(app).map(([, , status]) => status), ["resolved"]);
});

Deno.test("an incident that a user resolved or reopened is not changed", async () => {
  using app = proApp();
  monitor(app);
  goDown(app);
  const [{ id } = { id: "" }] = listIncidents(app.deps, { limit: 1, offset: 0 }).incidents;
  const path = `/api/ext/service-pro/incidents/${id}/status`;
  await app.call("PUT", path, { status: "resolved" });
  const events = collect(app);
  comeUp(app);
  deepEqual(events, ["monitor.up"]);
  await app.call("PUT", path, { status: "investigating" });
  resolveOrphanedIncidents(app.deps);
  deepEqual(incidents(app).map(([, , status]) => status), ["investigating"]);
});

Deno.test("an incident is resolved from any status when its cause ends", async () => {
  using app = proApp();
  monitor(app);
  goDown(app);
  const [{ id } = { id: "" }] = listIncidents(app.deps, { limit: 1, offset: 0 }).incidents;
  const path = `/api/ext/service-pro/incidents/${id}/status`;
  await app.call("PUT", path, { status: "identified" });
  comeUp(app);
  deepEqual(incidents(app).map(([, , status]) => status), ["resolved"]);
});

Deno.test("an incident is resolved after a restart of the service", () => {
  using db = { ...openTestDatabase(), [Symbol.dispose]() {} };
  {
    using app = testApp({ edition: "pro", now: AT, db });
    monitor(app);
    goDown(app);
  }
  {
    using app = testApp({ edition: "pro", now: AT, db });
    resolveOrphanedIncidents(app.deps);
    deepEqual(incidents(app).map(([, , status]) => status), ["open"]);
    comeUp(app);
    deepEqual(incidents(app).map(([, , status]) => status), ["resolved"]);
  }
  db.close();
});

Deno.test("incidents whose cause ended without a license are resolved with a new license", async () => {
  using app = proApp();
  monitor(app);
  rule(app);
  goDown(app);
  setStopped(app, true);
  app.deps.license.use(undefined);
  comeUp(app);
  setStopped(app, false);
  deepEqual(incidents(app).map(([, , status]) => status), ["open", "open"]);

  app.deps.license.use({
    customer: "test",
    edition: "pro",
    expiresAt: new Date("2999-01-01T00:00:00Z"),
    limits: {},
  });
  const events = collect(app);
  const stop = new AbortController();
  const ended = reconcileIncidents(app.deps, stop.signal, () => {});
  await until("they are resolved", () => events.length === 2);
  stop.abort();
  await ended;
  deepEqual(incidents(app).map(([, , status]) => status), ["resolved", "resolved"]);
  deepEqual(events, ["incident.resolved", "incident.resolved"]);
});

Deno.test("the number of resolved incidents is limited; open ones are kept", () => {
  using app = proApp();
  const { db } = app.deps;
  db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10010)
     INSERT INTO incidents (id, title, severity, status, source, follows_cause, created_by,
       created_at, updated_at, resolved_at)
     SELECT 'i' || i, 't', 'info', iif(i = 1, 'open', 'resolved'), 'manual', 0, 'key',
       strftime('%Y-%m-%dT%H:%M:%fZ', 1.7e9 + i, 'unixepoch'), :at, iif(i = 1, NULL, :at)
     FROM n`,
    { at: AT },
  );
  sweepIncidents(app.deps);
  const counts = db.get("SELECT count(*) AS total, sum(status = 'open') AS open FROM incidents");
  deepEqual({ ...counts as object }, { total: 10_001, open: 1 });
});
