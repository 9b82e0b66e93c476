import { deepEqual, equal, match, throws } from "node:assert/strict";
import type { AlertProgress } from "../../../db/alert_progress.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { AlertOperator, AlertRule } from "../../../db/alert_rules.ts";
import {
  type Condition,
  COOLDOWN_MS,
  evaluateRule,
  GAP_MAX_MS,
  INITIAL_PROGRESS,
} from "../../../services/alerts/condition.ts";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { stoppedContainers } from "../../../services/alerts/metrics/container_states.ts";
import { metricValue } from "../../../services/alerts/metrics/mod.ts";
import { listAlertEvents, sweepAlertEvents } from "../../../services/alerts/events.ts";
import {
  changeAlertRule,
  createAlertRule,
  getAlertRule,
  removeAlertRule,
} from "../../../services/alerts/rules.ts";
import type { AlertData } from "../../../services/events/kinds/alerts.ts";
import type { HostSample } from "../../../services/metrics/host/cache.ts";
import { containerOf, setContainers } from "../../helpers/fake_containers.ts";
import {
  collectEvents,
  openTestDatabase,
  type TestApp,
  testApp,
  testClock,
} from "../../helpers/test_app.ts";

const START = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000);

const HIGH_CPU: Condition = { operator: ">", threshold: 90, durationSeconds: 15 };

for (
  const [value, operator, threshold, holds] of [
    [91, ">", 90, true],
    [90, ">", 90, false],
    [89, "<", 90, true],
    [90, "<", 90, false],
    [90, ">=", 90, true],
    [89.9, ">=", 90, false],
    [90, "<=", 90, true],
    [90.1, "<=", 90, false],
    [90, "==", 90, true],
    [90.1, "==", 90, false],
    [0, "==", 0, true],
    [-1, "<", 0, true],
  ] as [number, AlertOperator, number, boolean][]
) {
  Deno.test(`evaluateRule(): ${value} ${operator} ${threshold} is ${holds}`, () => {
    const rule = { operator, threshold, durationSeconds: 0 };
    const { transition } = evaluateRule(rule, INITIAL_PROGRESS, value, at(0));
    equal(transition, holds ? "fired" : undefined);
  });
}

/** Evaluates a rule at each second that has a value; `?` is an unknown value. */
function play(
  rule: Condition,
  progress: AlertProgress,
  checks: [second: number, value: number | "?"][],
): [second: number, transition: string][] {
  const transitions: [number, string][] = [];
  for (const [second, value] of checks) {
    const decision = evaluateRule(rule, progress, value === "?" ? undefined : value, at(second));
    progress = decision.progress;
    if (decision.transition) transitions.push([second, decision.transition]);
  }
  return transitions;
}

/** A check every 5 seconds. */
const from = (
  first: number,
  last: number,
  value: number | "?",
): [number, number | "?"][] => {
  const checks: [number, number | "?"][] = [];
  for (let second = first; second <= last; second += 5) checks.push([second, value]);
  return checks;
};

const COOLDOWN_S = COOLDOWN_MS / 1000;
const GAP_S = GAP_MAX_MS / 1000;

for (
  const { what, checks, transitions, rule, progress } of [
    {
      what: "nothing happens while the condition does not hold",
      checks: from(0, 60, 10),
      transitions: [],
    },
    {
      what: "it fires when the condition has held for the duration",
      checks: from(0, 60, 95),
      transitions: [[15, "fired"]],
    },
    {
      what: "it fires at once without a duration",
      rule: { durationSeconds: 0 },
      checks: from(0, 60, 95),
      transitions: [[0, "fired"]],
    },
    {
      what: "an interruption restarts the duration",
      checks: [...from(0, 10, 95), ...from(15, 15, 50), ...from(20, 40, 95)],
      transitions: [[35, "fired"]],
    },
    {
      what: "it resolves as soon as the condition does not hold",
      checks: [...from(0, 30, 95), ...from(35, 60, 90)],
      transitions: [[15, "fired"], [35, "resolved"]],
    },
    {
      what: "an unknown value neither fires nor resolves",
      checks: [
        ...from(0, 10, 95),
        ...from(15, 25, "?"),
        ...from(30, 40, 95),
        ...from(45, 600, "?"),
      ],
      transitions: [[30, "fired"]],
    },
    {
      what: "a value that is unknown for too long counts as an interruption",
      checks: [
        ...from(0, 10, 95),
        ...from(15, 15 + GAP_S, "?"),
        ...from(20 + GAP_S, 60 + GAP_S, 95),
      ],
      transitions: [[35 + GAP_S, "fired"]],
    },
    {
      what: "it does not fire again within the cooldown",
      checks: [...from(0, 20, 95), ...from(25, 30, 10), ...from(35, 600, 95)],
      transitions: [[15, "fired"], [25, "resolved"]],
    },
    {
      what: "it fires at the end of the cooldown if the condition still holds",
      checks: [...from(0, 20, 95), ...from(25, 30, 10), ...from(35, 2000, 95)],
      transitions: [[15, "fired"], [25, "resolved"], [15 + COOLDOWN_S, "fired"]],
    },
    {
      what:
        "a condition that begins shortly before the end of the cooldown must hold for the duration",
      checks: [
        ...from(0, 20, 95),
        ...from(25, COOLDOWN_S + 10, 10),
        ...from(COOLDOWN_S + 15, COOLDOWN_S + 60, 95),
      ],
      transitions: [[15, "fired"], [25, "resolved"], [COOLDOWN_S + 30, "fired"]],
    },
    {
      what: "a condition that always holds fires once, regardless of the cooldown",
      checks: from(0, 4000, 95),
      transitions: [[15, "fired"]],
    },
    {
      what: "a pending condition survives a gap as short as a restart",
      progress: {
        state: "pending",
        pendingSince: at(-10).toISOString(),
        seenAt: at(-10).toISOString(),
      },
      checks: [[5, 95]],
      transitions: [[5, "fired"]],
    },
    {
      what: "a clock that was set back restarts the duration",
      progress: {
        state: "pending",
        pendingSince: at(3600).toISOString(),
        seenAt: at(3600).toISOString(),
      },
      checks: from(0, 15, 95),
      transitions: [[15, "fired"]],
    },
    {
      what: "a firing in the far future is ignored",
      progress: { lastFiredAt: at(86_400).toISOString() },
      checks: from(0, 15, 95),
      transitions: [[15, "fired"]],
    },
  ] as {
    what: string;
    rule?: Partial<Condition>;
    progress?: Partial<AlertProgress>;
    checks: [number, number | "?"][];
    transitions: [number, string][];
  }[]
) {
  Deno.test(`evaluateRule(): ${what}`, () =>
    deepEqual(
      play({ ...HIGH_CPU, ...rule }, { ...INITIAL_PROGRESS, ...progress }, checks),
      transitions,
    ));
}

Deno.test("evaluateRule() updates seenAt of a pending rule every 15 seconds", () => {
  const rule = { ...HIGH_CPU, durationSeconds: 3600 };
  let progress = INITIAL_PROGRESS;
  const seen = new Set<string>();
  for (const [second, value] of from(0, 300, 95)) {
    progress = evaluateRule(rule, progress, value as number, at(second)).progress;
    seen.add(progress.seenAt!);
  }
  equal(progress.state, "pending");
  equal(progress.pendingSince, at(0).toISOString());
  equal(seen.size, 300 / 15 + 1);
});

// The tests below use the database, the events and the sources of the values.

async function setHost(app: TestApp, { cpu = 0, memory = 0, disk = 0, load = 0 } = {}) {
  const timestamp = app.deps.now().toISOString();
  await app.deps.host.refresh(() =>
    Promise.resolve({
      cpuPercent: cpu,
      memory: { percent: memory },
      disk: { percent: disk },
      load: [load, 0, 0],
      timestamp,
    } as HostSample)
  );
}

function setStopped(app: TestApp, stopped: number) {
  setContainers(
    app,
    { name: "up" },
    ...Array.from({ length: stopped }, (_, n) => containerOf({ name: `s${n}`, state: "exited" })),
  );
}

function stoppedRule(app: Pick<TestApp, "deps">, durationSeconds = 0): AlertRule {
  return createAlertRule(app.deps, {
    name: "Stopped",
    metric: "container_stopped",
    operator: ">",
    threshold: 0,
    durationSeconds,
    autoIncident: false,
  });
}

const eventsOf = (app: Pick<TestApp, "deps">) =>
  listAlertEvents(app.deps, { limit: 500, offset: 0 }).events;

Deno.test("metricValue() reads the host's last sample", async () => {
  using app = testApp();
  await setHost(app, { cpu: 1, memory: 2, disk: 3, load: 4 });
  const metrics = ["cpu_percent", "memory_percent", "disk_percent", "load_1"];
  deepEqual(metrics.map((metric) => metricValue(app.deps, metric)), [1, 2, 3, 4]);
});

Deno.test("metricValue() is undefined when the last sample of the host is old", async () => {
  using app = testApp();
  equal(metricValue(app.deps, "cpu_percent"), undefined);
  await setHost(app, { cpu: 50 });
  app.clock.advance({ seconds: 30 });
  equal(metricValue(app.deps, "cpu_percent"), 50);
  app.clock.advance({ seconds: 1 });
  equal(metricValue(app.deps, "cpu_percent"), undefined);
});

Deno.test("metricValue() counts the containers that are not running while the engine is followed", () => {
  using app = testApp();
  equal(metricValue(app.deps, "container_stopped"), undefined);
  setStopped(app, 2);
  equal(metricValue(app.deps, "container_stopped"), 2);
  app.deps.inventory.setLive(false);
  equal(metricValue(app.deps, "container_stopped"), undefined);
});

Deno.test("a finished task does not count as a stopped container", () => {
  using app = testApp();
  const { inventory } = app.deps;
  const ended = (name: string, exitCode: number | null, policy: string, changes = {}) => {
    const container = containerOf({ name, state: "exited", exitCode, ...changes });
    const restartPolicy = { name: policy, maximumRetryCount: 0 };
    return { ...container, details: { ...container.details, restartPolicy } };
  };
  inventory.replaceAll([
    ended("task", 0, "no"),
    ended("without-policy", 0, ""),
    ended("failed-task", 1, "no"),
    ended("unknown-end", null, "no"),
    ended("service", 0, "unless-stopped"),
    ended("retried", 0, "on-failure"),
    ended("never-ran", 0, "no", { state: "created" }),
    ended("broken", 0, "no", { state: "dead" }),
  ], inventory.readNumber());
  const problems = [
    "broken",
    "failed-task",
    "never-ran",
    "retried",
    "service",
    "unknown-end",
  ];
  deepEqual(stoppedContainers(app.deps), problems);
  inventory.setLive(true);
  equal(metricValue(app.deps, "container_stopped"), problems.length);
});

Deno.test("an alert names ten containers in its message and 100 in its event", () => {
  using app = testApp();
  const events = collectEvents(app);
  stoppedRule(app);
  setStopped(app, 150);
  evaluateAlerts(app.deps);
  const { message, containers } = events[0]!.data as AlertData;
  match(message, /: s0, s1, s10, s100, s101, s102, s103, s104, s105, s106 and 140 more$/);
  equal(containers?.length, 100);
});

Deno.test("a pending condition is stored once, and a restart or an unknown value is a gap", async () => {
  const db = openTestDatabase();
  const ids: string[] = [];
  const states = (app: TestApp) => ids.map((id) => getAlertRule(app.deps, id).state);
  const rounds = async (app: TestApp, count: number) => {
    for (let n = 0; n < count; n++) {
      app.clock.advance({ seconds: 5 });
      await setHost(app, { load: 9 });
      evaluateAlerts(app.deps);
    }
  };
  {
    using app = testApp({ db, now: "2026-01-01T12:00:00Z" });
    ids.push(stoppedRule(app, 120).id);
    const load = { metric: "load_1", operator: ">", threshold: 1, durationSeconds: 120 } as const;
    ids.push(createAlertRule(app.deps, { ...load, name: "Load", autoIncident: false }).id);
    setStopped(app, 1);
    await rounds(app, 1);
    const before = changesOf(db);
    await rounds(app, 6);
    equal(changesOf(db) - before, 2);
    app.deps.inventory.setLive(false);
    await rounds(app, 13);
    deepEqual(states(app), ["pending", "pending"]);
  }
  using app = testApp({ db, now: "2026-01-01T12:02:00Z" });
  setStopped(app, 1);
  await rounds(app, 1);
  // The state of containers that stopped during the outage of the engine is unknown.
  deepEqual(states(app), ["pending", "firing"]);
  await rounds(app, 23);
  deepEqual(states(app), ["pending", "firing"]);
  await rounds(app, 1);
  deepEqual(states(app), ["firing", "firing"]);
  db.close();
});

const changesOf = (db: StateDatabase) =>
  db.get<{ changes: number }>("SELECT total_changes() AS changes")!.changes;

Deno.test("evaluateAlerts() stores and emits a firing and its resolution", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const events = collectEvents(app);
  const { id } = stoppedRule(app, 10);
  setStopped(app, 2);

  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, id).state, "pending");
  app.clock.advance({ seconds: 10 });
  evaluateAlerts(app.deps);
  evaluateAlerts(app.deps);

  const rule = getAlertRule(app.deps, id);
  deepEqual([rule.state, rule.lastFiredAt], ["firing", "2026-01-01T12:00:10.000Z"]);
  const [event, ...others] = eventsOf(app);
  deepEqual(others, []);
  const { id: alertId, ...stored } = event!;
  deepEqual(stored, {
    ruleId: id,
    ruleName: "Stopped",
    rule_name: "Stopped",
    metric: "container_stopped",
    operator: ">",
    threshold: 0,
    value: 2,
    message: "The number of stopped containers is 2 (limit: above 0 for 10 s): s0, s1",
    severity: "warning",
    container: null,
    stack: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    comment: null,
    firedAt: "2026-01-01T12:00:10.000Z",
    created_at: "2026-01-01T12:00:10.000Z",
    resolvedAt: null,
    valueText: "2",
  });

  setStopped(app, 0);
  app.clock.advance({ seconds: 5 });
  evaluateAlerts(app.deps);
  equal(getAlertRule(app.deps, id).state, "ok");
  equal(eventsOf(app)[0]?.resolvedAt, "2026-01-01T12:00:15.000Z");

  const data = {
    rule: "Stopped",
    ruleId: id,
    alertId,
    metric: "container_stopped",
    operator: ">",
    threshold: 0,
    severity: "warning",
    stateOf: "container",
  };
  deepEqual(events.map(({ event, data }) => [event, data]), [
    ["alert.fired", {
      ...data,
      value: 2,
      message: "The number of stopped containers is 2 (limit: above 0 for 10 s): s0, s1",
      containers: ["s0", "s1"],
    }],
    ["alert.resolved", {
      ...data,
      value: 0,
      message: "The number of stopped containers is 0 (no longer above 0)",
      containers: [],
    }],
  ]);
});

Deno.test("an unreachable engine neither fires nor resolves an alert", () => {
  using app = testApp();
  stoppedRule(app);
  evaluateAlerts(app.deps);
  deepEqual(eventsOf(app), []);
  setStopped(app, 1);
  evaluateAlerts(app.deps);
  app.deps.inventory.setLive(false);
  app.clock.advance({ minutes: 60 });
  evaluateAlerts(app.deps);
  deepEqual(eventsOf(app).map(({ resolvedAt }) => resolvedAt), [null]);
});

Deno.test("maintenance pauses alerts", () => {
  using app = testApp();
  stoppedRule(app);
  setStopped(app, 1);
  app.deps.maintenance.set({ enabled: true, until: null, reason: null });
  evaluateAlerts(app.deps);
  deepEqual(eventsOf(app), []);

  app.deps.maintenance.set({ enabled: false, until: null, reason: null });
  evaluateAlerts(app.deps);
  app.deps.maintenance.set({ enabled: true, until: null, reason: null });
  setStopped(app, 0);
  evaluateAlerts(app.deps);
  deepEqual(eventsOf(app).map(({ resolvedAt }) => resolvedAt), [null]);
});

Deno.test("a rule shows during maintenance that its condition holds, and fires afterwards", () => {
  using app = testApp();
  const { maintenance } = app.deps;
  const { id } = stoppedRule(app);
  const stateOf = () => {
    const { state, inhibitedBy } = getAlertRule(app.deps, id);
    return [state, inhibitedBy];
  };
  maintenance.set({ enabled: true, until: null, reason: null });
  evaluateAlerts(app.deps);
  deepEqual(stateOf(), ["ok", "maintenance"]);
  setStopped(app, 1);
  for (let minute = 0; minute < 60; minute++) {
    evaluateAlerts(app.deps);
    app.clock.advance({ minutes: 1 });
  }
  deepEqual(stateOf(), ["pending", "maintenance"]);
  deepEqual(eventsOf(app), []);
  maintenance.set({ enabled: false, until: null, reason: null });
  evaluateAlerts(app.deps);
  deepEqual(stateOf(), ["firing", null]);
});

Deno.test("a disabled rule is not evaluated", () => {
  using app = testApp();
  const { id } = stoppedRule(app);
  setStopped(app, 1);
  changeAlertRule(app.deps, id, { enabled: false });
  evaluateAlerts(app.deps);
  deepEqual(eventsOf(app), []);
});

Deno.test("a restart neither loses nor repeats a firing", () => {
  const db = openTestDatabase();
  const clock = testClock();
  const restarted = (work: (app: TestApp) => void) => {
    using app = testApp({ db, now: clock.now().toISOString() });
    setStopped(app, 1);
    work(app);
    evaluateAlerts(app.deps);
    clock.advance({ seconds: 15 });
  };
  restarted((app) => stoppedRule(app, 15));
  // Each round is another process.
  for (let n = 0; n < 10; n++) restarted(() => {});
  using app = testApp({ db });
  deepEqual(eventsOf(app).map(({ firedAt, resolvedAt }) => [firedAt, resolvedAt]), [
    ["2026-01-01T00:00:15.000Z", null],
  ]);
  db.close();
});

Deno.test("a firing whose messages cannot be stored is retried as a whole", () => {
  using app = testApp();
  const { id } = stoppedRule(app);
  setStopped(app, 1);
  let fails = true;
  const deps = {
    ...app.deps,
    recorders: [{
      edition: "ce" as const,
      record(): undefined {
        if (fails) throw new Error("the disk is full");
      },
    }],
  };
  throws(() => evaluateAlerts(deps), /the disk is full/);
  deepEqual([eventsOf(app).length, getAlertRule(app.deps, id).state], [0, "ok"]);
  fails = false;
  evaluateAlerts(deps);
  deepEqual([eventsOf(app).length, getAlertRule(app.deps, id).state], [1, "firing"]);
});

for (
  const [what, end, message] of [
    ["disabled", { enabled: false }, "The rule was disabled"],
    ["given another condition", { threshold: 5 }, "The rule was changed"],
  ] as const
) {
  Deno.test(`a rule that is ${what} while it fires resolves its event and starts again`, () => {
    using app = testApp();
    const { id } = stoppedRule(app);
    setStopped(app, 1);
    evaluateAlerts(app.deps);
    const events = collectEvents(app);
    const rule = changeAlertRule(app.deps, id, end);
    equal(rule.state, "ok");
    equal(eventsOf(app)[0]?.resolvedAt, app.deps.now().toISOString());
    deepEqual(events.map(({ event, data }) => [event, (data as { message: string }).message]), [
      ["alert.resolved", message],
    ]);
    // Its cooldown continues.
    changeAlertRule(app.deps, id, { enabled: true, threshold: 0 });
    evaluateAlerts(app.deps);
    equal(eventsOf(app).length, 1);
    app.clock.advance({ minutes: 15 });
    setStopped(app, 1);
    evaluateAlerts(app.deps);
    equal(eventsOf(app).length, 2);
  });
}

Deno.test("renaming a rule does not resolve it", () => {
  using app = testApp();
  const { id } = stoppedRule(app);
  setStopped(app, 1);
  evaluateAlerts(app.deps);
  equal(changeAlertRule(app.deps, id, { name: "Other" }).state, "firing");
  equal(eventsOf(app)[0]?.resolvedAt, null);
});

Deno.test("the events of a rule that is deleted stay and are resolved", () => {
  using app = testApp();
  const { id } = stoppedRule(app);
  setStopped(app, 1);
  evaluateAlerts(app.deps);
  removeAlertRule(app.deps, id);
  const [event] = eventsOf(app);
  deepEqual([event?.ruleId, event?.ruleName], [id, "Stopped"]);
  equal(event?.resolvedAt, app.deps.now().toISOString());
});

Deno.test("sweepAlertEvents() deletes events older than 90 days, except firing ones", () => {
  using app = testApp();
  const ended = stoppedRule(app);
  stoppedRule(app);
  setStopped(app, 1);
  evaluateAlerts(app.deps);
  changeAlertRule(app.deps, ended.id, { enabled: false });
  app.clock.advance({ days: 89 });
  sweepAlertEvents(app.deps);
  equal(eventsOf(app).length, 2);
  app.clock.advance({ days: 2 });
  sweepAlertEvents(app.deps);
  deepEqual(eventsOf(app).map(({ resolvedAt }) => resolvedAt), [null]);
});
