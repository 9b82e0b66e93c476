import { deepEqual, equal, match } from "node:assert/strict";
import { recordOom } from "../../../services/alerts/occurrences.ts";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { listActiveAlerts, listAlertEvents } from "../../../services/alerts/events.ts";
import {
  changeAlertRule,
  createAlertRule,
  getAlertRule,
  type NewAlertRule,
  removeAlertRule,
} from "../../../services/alerts/rules.ts";
import type { AlertData } from "../../../services/events/kinds/alerts.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import type { ContainerStats } from "../../../services/containers/stats_cache.ts";
import { composeLabels, containerOf, idOf, setContainers } from "../../helpers/fake_containers.ts";
import { collectEvents, openTestDatabase, type TestApp, testApp } from "../../helpers/test_app.ts";

const CONTAINERS = { target: { kind: "containers" as const } };

function ruleOf(app: Pick<TestApp, "deps">, fields: Partial<NewAlertRule>) {
  return createAlertRule(app.deps, {
    name: "Rule",
    metric: "container_not_running",
    operator: "==",
    threshold: 1,
    durationSeconds: 0,
    autoIncident: false,
    ...fields,
  });
}

const running = (name: string, fields: Partial<Container> = {}) => containerOf({ name, ...fields });
const stopped = (name: string, fields: Partial<Container> = {}) =>
  containerOf({ name, state: "exited", exitCode: 1, ...fields });

function setStats(app: TestApp, name: string, fields: Partial<ContainerStats>) {
  app.deps.stats.put(idOf(name), {
    ...{ cpuPercent: 0, cpuSeconds: 0, memoryUsage: 0, memoryLimit: 1000, memoryPercent: 0 },
    ...{ networkRx: 0, networkTx: 0, blockRead: 0, blockWrite: 0, pids: 1 },
    read: app.deps.now().toISOString(),
    ...fields,
  });
}

/** E.g. `alert.fired web`. */
const told = (events: readonly AppEvent[]) =>
  events.map(({ event, data }) => `${event} ${(data as AlertData).container ?? "-"}`);

const active = (app: Pick<TestApp, "deps">) =>
  listActiveAlerts(app.deps).map(({ container }) => container).sort();

for (
  const { target, watched } of [
    { target: {}, watched: ["api-1", "db", "web", "web-2"] },
    { target: { containers: ["web*"] }, watched: ["web", "web-2"] },
    { target: { containers: ["web", "db"] }, watched: ["db", "web"] },
    { target: { stacks: ["shop"] }, watched: ["api-1", "web"] },
    { target: { stacks: ["sh*"], containers: ["w*"] }, watched: ["web"] },
    { target: { labels: { tier: "db" } }, watched: ["db"] },
    { target: { labels: { tier: "*" } }, watched: ["api-1", "db"] },
    { target: { labels: { tier: "*", zone: "a" } }, watched: ["db"] },
    { target: { labels: { constructor: "*" } }, watched: [] },
  ]
) {
  Deno.test(`a rule on ${JSON.stringify(target)} fires for ${watched.join(", ") || "none"}`, () => {
    using app = testApp();
    setContainers(
      app,
      stopped("web", { labels: composeLabels("shop", "web") }),
      stopped("api-1", { labels: { ...composeLabels("shop", "api"), tier: "api" } }),
      stopped("db", { labels: { tier: "db", zone: "a" } }),
      stopped("web-2"),
    );
    ruleOf(app, { scope: { target: { kind: "containers", ...target } } });
    evaluateAlerts(app.deps);
    deepEqual(active(app), watched);
  });
}

Deno.test("a rule fires once for each container, with its name, stack and severity", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const events = collectEvents(app);
  const rule = ruleOf(app, { name: "Down", severity: "critical", durationSeconds: 10 });
  setContainers(app, stopped("web", { labels: composeLabels("shop", "web") }), running("db"));
  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, rule.id).state, "pending");
  deepEqual(app.deps.changes.counts, { "/api/alerts/rules": 1 });
  app.clock.advance({ seconds: 5 });
  // The other container begins later, and fires later.
  setContainers(app, stopped("web", { labels: composeLabels("shop", "web") }), stopped("db"));
  evaluateAlerts(app.deps);
  app.clock.advance({ seconds: 5 });
  evaluateAlerts(app.deps);
  deepEqual(told(events), ["alert.fired web"]);
  app.clock.advance({ seconds: 5 });
  evaluateAlerts(app.deps);
  evaluateAlerts(app.deps);
  deepEqual(told(events), ["alert.fired web", "alert.fired db"]);

  const [, web] = listAlertEvents(app.deps, { limit: 10, offset: 0 }).events;
  deepEqual([web?.container, web?.stack, web?.severity], ["web", "shop", "critical"]);
  equal(web?.message, "web is not running (for 10 s)");
  const data = events[0]!.data as AlertData;
  deepEqual([data.container, data.stack, data.severity], ["web", "shop", "critical"]);
  const { state, lastFiredAt } = getAlertRule(app.deps, rule.id);
  deepEqual([state, lastFiredAt], ["firing", "2026-01-01T12:00:15.000Z"]);
});

Deno.test("the cooldown of one container does not delay another", () => {
  using app = testApp();
  const events = collectEvents(app);
  ruleOf(app, {});
  const step = (...containers: Container[]) => {
    setContainers(app, ...containers);
    evaluateAlerts(app.deps);
    app.clock.advance({ minutes: 1 });
  };
  step(stopped("web"), running("db"));
  step(running("web"), running("db"));
  step(stopped("web"), stopped("db"));
  deepEqual(told(events), ["alert.fired web", "alert.resolved web", "alert.fired db"]);
  app.clock.advance({ minutes: 15 });
  step(stopped("web"), stopped("db"));
  deepEqual(told(events).slice(3), ["alert.fired web"]);
});

Deno.test("a restart of the service neither loses nor repeats the firing of a container", () => {
  const db = openTestDatabase();
  let told: string[] = [];
  for (let n = 0; n < 3; n++) {
    using app = testApp({ db, now: `2026-01-01T12:00:0${n}Z` });
    if (n === 0) ruleOf(app, {});
    setContainers(app, stopped("web"), stopped("db"));
    const events = collectEvents(app);
    evaluateAlerts(app.deps);
    told = [...told, ...events.map(({ data }) => (data as AlertData).container!)];
  }
  deepEqual(told.sort(), ["db", "web"]);
  db.close();
});

Deno.test("a container that is replaced continues its alert, and a removed one ends it", () => {
  using app = testApp();
  const events = collectEvents(app);
  ruleOf(app, {});
  setContainers(app, stopped("web"), running("db"));
  evaluateAlerts(app.deps);
  setContainers(app, running("db"));
  evaluateAlerts(app.deps);
  app.clock.advance({ seconds: 30 });
  setContainers(app, stopped("web", { id: idOf("another") }), running("db"));
  evaluateAlerts(app.deps);
  deepEqual(told(events), ["alert.fired web"]);

  setContainers(app, running("db"));
  evaluateAlerts(app.deps);
  app.clock.advance({ seconds: 60 });
  evaluateAlerts(app.deps);
  deepEqual(told(events), ["alert.fired web", "alert.resolved web"]);
  match((events[1]!.data as AlertData).message, /^web was removed or left the scope/);
  evaluateAlerts(app.deps);
  equal(events.length, 2);
});

Deno.test("an alert about the use of a container resolves when it stops", () => {
  using app = testApp();
  const events = collectEvents(app);
  const rule = ruleOf(app, { metric: "container_cpu_percent", operator: ">", threshold: 80 });
  deepEqual(rule.scope, CONTAINERS);
  setContainers(app, running("web"));
  setStats(app, "web", { cpuPercent: 123.456 });
  evaluateAlerts(app.deps);
  setContainers(app, stopped("web"));
  evaluateAlerts(app.deps);
  deepEqual(events.map(({ data }) => (data as AlertData).message), [
    "CPU of web is at 123.46 % (limit: above 80 %)",
    "web is not running",
  ]);
});

for (
  const { metric, stats, value } of [
    { metric: "container_cpu_percent", stats: { cpuPercent: 50 }, value: 50 },
    { metric: "container_memory_percent", stats: { memoryPercent: 75 }, value: 75 },
    { metric: "container_memory_bytes", stats: { memoryUsage: 2e9 }, value: 2e9 },
  ] as const
) {
  Deno.test(`${metric} is what the last sample of a container says`, () => {
    using app = testApp();
    ruleOf(app, { metric, operator: "==", threshold: value });
    setContainers(app, running("web"), running("db"), running("new"));
    setStats(app, "web", stats);
    setStats(app, "db", {});
    evaluateAlerts(app.deps);
    deepEqual(listActiveAlerts(app.deps).map((alert) => [alert.container, alert.value]), [
      ["web", value],
    ]);
  });
}

Deno.test("container_unhealthy is about the health check", () => {
  using app = testApp();
  ruleOf(app, { metric: "container_unhealthy" });
  setContainers(
    app,
    running("ill", { health: "unhealthy" }),
    running("well", { health: "healthy" }),
    running("unchecked"),
  );
  evaluateAlerts(app.deps);
  deepEqual(active(app), ["ill"]);
});

Deno.test("container_restarts counts restarts of the engine and of users within the window", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { windowSeconds } = ruleOf(app, {
    metric: "container_restarts",
    operator: ">=",
    threshold: 3,
    windowSeconds: 600,
  });
  equal(windowSeconds, 600);
  const at = (startedAt: string, restartCount: number) => {
    setContainers(app, running("web", { startedAt, restartCount }));
    evaluateAlerts(app.deps);
  };
  // Earlier restarts are not counted: when they were is unknown.
  at("2026-01-01T11:49:00.000Z", 40);
  deepEqual(active(app), []);
  app.clock.advance({ minutes: 1 });
  at("2026-01-01T12:00:59.000Z", 42);
  deepEqual(active(app), []);
  app.clock.advance({ minutes: 5 });
  // A user started it: the engine's number begins again.
  at("2026-01-01T12:05:30.000Z", 0);
  deepEqual(active(app), ["web"]);
  app.clock.advance({ minutes: 7 });
  at("2026-01-01T12:05:30.000Z", 0);
  deepEqual(active(app), []);
});

for (
  const { what, container, value } of [
    { what: "the last one of many", container: { restartCount: 40 }, value: 1 },
    {
      what: "all of a container that was created within the window",
      container: { restartCount: 4, createdAt: "2026-01-01T11:55:00.000Z" },
      value: 4,
    },
    { what: "none after a start by a user", container: { restartCount: 0 }, value: 0 },
    {
      what: "none before the window",
      container: { restartCount: 4, startedAt: "2026-01-01T11:49:00.000Z" },
      value: 0,
    },
  ]
) {
  Deno.test(`container_restarts counts restarts before its first round: ${what}`, () => {
    using app = testApp({ now: "2026-01-01T12:00:00Z" });
    const rule = { metric: "container_restarts", operator: ">=", windowSeconds: 600 } as const;
    for (let threshold = 1; threshold <= 5; threshold++) ruleOf(app, { ...rule, threshold });
    setContainers(app, running("web", { startedAt: "2026-01-01T11:59:00.000Z", ...container }));
    evaluateAlerts(app.deps);
    equal(active(app).length, value);
  });
}

Deno.test("a new rule on container_restarts counts what other rounds saw before it", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const round = (startedAt: string, restartCount: number) => {
    setContainers(app, running("web", { startedAt, restartCount }));
    evaluateAlerts(app.deps);
  };
  round("2026-01-01T11:00:00.000Z", 0);
  app.clock.advance({ seconds: 5 });
  round("2026-01-01T12:00:04.000Z", 2);
  app.clock.advance({ seconds: 5 });
  ruleOf(app, { metric: "container_restarts", operator: ">=", threshold: 2, windowSeconds: 60 });
  evaluateAlerts(app.deps);
  deepEqual(active(app), ["web"]);
});

Deno.test("container_oom counts a lack of memory just before its first round", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  ruleOf(app, { metric: "container_oom", operator: ">=", threshold: 1, windowSeconds: 60 });
  const web = running("web", { finishedAt: "2026-01-01T11:59:30.000Z" });
  setContainers(app, { ...web, details: { ...web.details, oomKilled: true } });
  evaluateAlerts(app.deps);
  deepEqual(active(app), ["web"]);
});

Deno.test("container_oom counts each lack of memory once, however the engine reports it", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  ruleOf(app, { metric: "container_oom", operator: ">=", threshold: 1, windowSeconds: 60 });
  const events = collectEvents(app);
  const end = (finishedAt: string | null, oomKilled: boolean) => {
    const web = running("web", { finishedAt });
    setContainers(app, { ...web, details: { ...web.details, oomKilled } });
    evaluateAlerts(app.deps);
  };
  end("2026-01-01T11:00:00.000Z", true);
  deepEqual(told(events), []);
  // Docker: an event, and later the state of the container.
  recordOom(app.deps, idOf("web"));
  end("2026-01-01T12:00:01.000Z", true);
  deepEqual(told(events), ["alert.fired web"]);
  match(
    (events[0]!.data as AlertData).message,
    /^The number of out-of-memory kills of web is 1 \(limit: at least 1 within /,
  );
  app.clock.advance({ minutes: 20 });
  end("2026-01-01T12:00:01.000Z", true);
  deepEqual(told(events).slice(1), ["alert.resolved web"]);
  // Podman: only the state.
  end("2026-01-01T12:19:59.000Z", true);
  deepEqual(told(events).slice(2), ["alert.fired web"]);
});

Deno.test("container_network_bytes_per_second is measured between two samples", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  ruleOf(app, { metric: "container_network_bytes_per_second", operator: ">", threshold: 1000 });
  setContainers(app, running("web"), running("db"));
  const sample = (bytes: number) => {
    setStats(app, "web", { networkRx: bytes, networkTx: bytes });
    setStats(app, "db", { networkRx: bytes / 2 });
    evaluateAlerts(app.deps);
    app.clock.advance({ seconds: 10 });
    return active(app);
  };
  deepEqual(sample(1e6), []);
  deepEqual(sample(1e6 + 5_000), []);
  deepEqual(sample(1e6 + 11_000), ["web"]);
  // A restart sets the counters to 0.
  deepEqual(sample(0), ["web"]);
  deepEqual(sample(100), []);
});

Deno.test("missing data of a container is reported once, and its alert stays open", () => {
  using app = testApp();
  const events = collectEvents(app);
  const rule = ruleOf(app, {
    name: "Busy",
    metric: "container_cpu_percent",
    operator: ">",
    threshold: 80,
    forMissingDataSeconds: 60,
    severity: "info",
  });
  setContainers(app, running("web"), running("db"));
  const step = (cpu?: number) => {
    if (cpu !== undefined) setStats(app, "web", { cpuPercent: cpu });
    setStats(app, "db", {});
    evaluateAlerts(app.deps);
  };
  step(95);
  app.clock.advance({ seconds: 46 });
  step();
  app.clock.advance({ seconds: 59 });
  step();
  deepEqual(told(events), ["alert.fired web"]);
  app.clock.advance({ seconds: 1 });
  step();
  step();
  deepEqual(told(events), ["alert.fired web", "alert.no_data web"]);
  const { message, severity } = events[1]!.data as AlertData;
  deepEqual([message, severity], [
    "CPU of web: no data for 1 min: web was not measured in the last 45 seconds",
    "info",
  ]);
  equal(getAlertRule(app.deps, rule.id).state, "no_data");
  deepEqual(active(app), ["web"]);

  step(95);
  equal(getAlertRule(app.deps, rule.id).state, "firing");
  equal(events.length, 2);
  step(5);
  deepEqual(told(events).slice(2), ["alert.resolved web"]);
});

Deno.test("without the engine a rule on containers reports missing data once for all of them", () => {
  using app = testApp();
  const events = collectEvents(app);
  const rule = ruleOf(app, { forMissingDataSeconds: 30 });
  setContainers(app, running("web"), running("db"));
  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, rule.id).problem, null);
  app.deps.inventory.setLive(false);
  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, rule.id).problem, "The engine is unreachable");
  app.clock.advance({ seconds: 30 });
  evaluateAlerts(app.deps);
  evaluateAlerts(app.deps);
  deepEqual(told(events), ["alert.no_data -"]);
  equal(getAlertRule(app.deps, rule.id).state, "no_data");
  app.deps.inventory.setLive(true);
  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, rule.id).state, "ok");
  equal(events.length, 1);
});

for (
  const [what, end] of [
    ["disabled", (app, id) => changeAlertRule(app.deps, id, { enabled: false })],
    ["deleted", (app, id) => removeAlertRule(app.deps, id)],
    [
      "given another scope",
      (app, id) =>
        changeAlertRule(app.deps, id, {
          scope: { target: { kind: "containers", containers: ["x"] } },
        }),
    ],
  ] as [string, (app: TestApp, id: string) => void][]
) {
  Deno.test(`a rule that is ${what} resolves its alerts of all containers`, () => {
    using app = testApp();
    const { id } = ruleOf(app, {});
    setContainers(app, stopped("web"), stopped("db"));
    evaluateAlerts(app.deps);
    deepEqual(active(app), ["db", "web"]);
    const events = collectEvents(app);
    end(app, id);
    deepEqual(told(events).sort(), ["alert.resolved db", "alert.resolved web"]);
    deepEqual(active(app), []);
    evaluateAlerts(app.deps);
    equal(events.length, 2);
  });
}

Deno.test("a rule whose scope has no container says so", () => {
  using app = testApp();
  setContainers(app, running("web"));
  const { id } = ruleOf(app, { scope: { target: { kind: "containers", stacks: ["shop"] } } });
  evaluateAlerts(app.deps);
  const { problem, state } = getAlertRule(app.deps, id);
  deepEqual([problem, state], ["No container matches the scope", "ok"]);
});

Deno.test("a round in which nothing changes writes nothing and reads no rule", () => {
  using app = testApp();
  for (let n = 0; n < 3; n++) ruleOf(app, { durationSeconds: 60 });
  setContainers(app, stopped("web"), running("db"));
  evaluateAlerts(app.deps);
  const { db } = app.deps;
  const statements: string[] = [];
  const watched = {
    ...db,
    all: ((sql, params) => (statements.push(sql), db.all(sql, params))) as typeof db.all,
    get: ((sql, params) => (statements.push(sql), db.get(sql, params))) as typeof db.get,
    run: ((sql, params) => (statements.push(sql), db.run(sql, params))) as typeof db.run,
  };
  app.clock.advance({ seconds: 5 });
  evaluateAlerts({ ...app.deps, db: watched });
  deepEqual(statements, []);
});

Deno.test("what happens during maintenance is not counted afterwards", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  ruleOf(app, { metric: "container_restarts", operator: ">=", threshold: 1 });
  const { maintenance } = app.deps;
  const round = (restartCount: number) => {
    app.clock.advance({ seconds: 5 });
    const startedAt = `2026-01-01T12:00:0${restartCount}.000Z`;
    setContainers(app, running("web", { startedAt, restartCount }));
    evaluateAlerts(app.deps);
    return active(app);
  };
  round(0);
  maintenance.set({ enabled: true, until: null, reason: null });
  round(3);
  maintenance.set({ enabled: false, until: null, reason: null });
  deepEqual(round(4), []);
  deepEqual(round(5), ["web"]);
});

Deno.test("containers that are gone take no memory", () => {
  using app = testApp();
  ruleOf(app, { forMissingDataSeconds: 3_600, metric: "container_cpu_percent", operator: ">" });
  ruleOf(app, { durationSeconds: 3_600 });
  for (let n = 0; n < 50; n++) {
    setContainers(app, running(`job-${n}`), stopped(`task-${n}`));
    evaluateAlerts(app.deps);
    app.clock.advance({ seconds: 61 });
    setContainers(app);
    evaluateAlerts(app.deps);
    app.clock.advance({ seconds: 61 });
    evaluateAlerts(app.deps);
  }
  evaluateAlerts(app.deps);
  deepEqual(
    app.deps.alerts.rules!.map(({ progress, unknownSince }) => [progress.size, unknownSince.size]),
    [[0, 0], [0, 0]],
  );
});
