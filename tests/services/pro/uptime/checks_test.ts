import { deepEqual, equal, match } from "node:assert/strict";
import { selectOutages } from "../../../../db/pro/uptime/outages.ts";
import { countChecks, insertCheck } from "../../../../db/pro/uptime/checks.ts";
import { deleteMonitor, insertMonitor, selectMonitor } from "../../../../db/pro/uptime/monitors.ts";
import { selectRollups } from "../../../../db/pro/uptime/rollups.ts";
import { sweepOutages } from "../../../../services/pro/uptime/outages.ts";
import { listChecks, recordCheck, sweepChecks } from "../../../../services/pro/uptime/checks.ts";
import { loadHistory, type MonitorHistory } from "../../../../services/pro/uptime/history.ts";
import {
  changeMonitor,
  getMonitor,
  pauseMonitor,
  removeMonitor,
  resumeMonitor,
} from "../../../../services/pro/uptime/monitors.ts";
import { getUptimeStats } from "../../../../services/pro/uptime/stats.ts";
import { collectEvents, type TestApp, testApp } from "../../../helpers/test_app.ts";

const OK = { ok: true, responseTimeMs: 20, statusCode: 200, error: null };
const BAD = { ok: false, responseTimeMs: 9, statusCode: 500, error: "The status is 500, not 200" };

/** An application with one monitor, checked every minute, and its events. */
function monitored({ retries = 1, now = "2026-03-01T12:00:00Z" } = {}) {
  const app = testApp({ edition: "pro", now });
  const events = collectEvents(app, (kind) => kind.startsWith("monitor."));
  addMonitor(app, "m1", retries);
  return {
    app,
    events,
    deps: app.deps,
    /** Records a check at a time of day, e.g. `"12:01"`. */
    check(time: string, result: typeof OK | typeof BAD, id = "m1") {
      app.clock.set(at(time));
      return recordCheck(app.deps, id, app.deps.now(), result);
    },
    status: () => selectMonitor(app.deps.db, "m1")!.status,
    spans: (which: keyof MonitorHistory, from: string, to: string, id = "m1") =>
      loadHistory(app.deps, [id], new Date(at(from)), new Date(at(to))).get(id)![which]
        .map(({ start, end }) => `${clockOf(start)}-${clockOf(end)}`),
    [Symbol.dispose]: () => app[Symbol.dispose](),
  };
}

const at = (time: string) =>
  time.includes("T") ? time : `2026-03-01T${time.length === 5 ? `${time}:00` : time}Z`;
const clockOf = (ms: number) => new Date(ms).toISOString().slice(11, 19).replace(/:00$/, "");

function addMonitor(app: TestApp, id: string, retries: number) {
  const createdAt = app.deps.now().toISOString();
  insertMonitor(app.deps.db, {
    id,
    name: "Shop",
    type: "http",
    url: "http://192.168.0.1/",
    method: "GET",
    expectedStatus: "200",
    keyword: null,
    recordType: null,
    expected: null,
    timeoutMs: 5_000,
    intervalSeconds: 60,
    retries,
    sealed: null,
    autoIncident: false,
    paused: false,
    status: "pending",
    createdAt,
    updatedAt: createdAt,
  });
}

for (const retries of [0, 1, 5]) {
  Deno.test(`with ${retries} retries, ${retries + 1} failures open one outage`, () => {
    using m = monitored({ retries });
    m.check("12:00", OK);
    equal(m.status(), "up");
    for (let i = 1; i <= retries; i++) m.check(`12:0${i}`, BAD);
    deepEqual([m.status(), m.events.length], ["up", 0]);
    for (let i = 1; i <= 3; i++) m.check(`12:0${retries + i}`, BAD);
    equal(m.status(), "down");
    const outages = selectOutages(m.deps.db);
    equal(outages.length, 1);
    equal(outages[0]!.startedAt, "2026-03-01T12:01:00.000Z");
    equal(outages[0]!.cause, BAD.error);
    deepEqual(m.events.map(({ event }) => event), ["monitor.down"]);
  });
}

Deno.test("a successful check ends the outage and reports its duration", () => {
  using m = monitored();
  m.check("12:00", BAD);
  m.check("12:01", BAD);
  m.check("12:44", OK);
  m.check("12:45", OK);
  equal(m.status(), "up");
  const [outage] = selectOutages(m.deps.db);
  equal(outage!.resolvedAt, "2026-03-01T12:44:00.000Z");
  deepEqual(m.events.map(({ event, data }) => ({ event, data })), [
    {
      event: "monitor.down",
      data: { monitor: "Shop", monitorId: "m1", outageId: outage!.id, cause: BAD.error },
    },
    {
      event: "monitor.up",
      data: { monitor: "Shop", monitorId: "m1", outageId: outage!.id, downtimeSeconds: 44 * 60 },
    },
  ]);
});

Deno.test("single failures between successful checks are not an outage", () => {
  using m = monitored();
  for (let i = 0; i < 10; i++) m.check(`12:0${i}`, i % 2 ? BAD : OK);
  deepEqual(selectOutages(m.deps.db), []);
});

Deno.test("a monitor that never responds goes from pending to down", () => {
  using m = monitored();
  m.check("12:00", BAD);
  equal(m.status(), "pending");
  m.check("12:01", BAD);
  equal(m.status(), "down");
});

Deno.test("an outage continues after a restart, and events are not repeated", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:01", BAD);
  m.check("12:02", BAD);
  // Nothing is kept in memory: another process may run the next check.
  m.check("12:04:30", BAD);
  m.check("12:10", OK);
  equal(selectOutages(m.deps.db).length, 1);
  deepEqual(m.events.map(({ event }) => event), ["monitor.down", "monitor.up"]);
});

Deno.test("time without checks is neither up nor down", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:01", BAD);
  m.check("12:02", BAD);
  // Without a later check, the time is known until the last check expires.
  deepEqual(m.spans("down", "12:00", "14:00"), ["12:01-12:03"]);
  deepEqual(m.spans("known", "12:00", "14:00"), ["12:00-12:03"]);
  m.check("14:00", BAD);
  m.check("14:01", OK);
  deepEqual(m.spans("down", "12:00", "14:02"), ["12:01-12:03", "14:00-14:01"]);
  deepEqual(m.spans("known", "11:00", "14:02"), ["12:00-12:03", "14:00-14:02"]);
});

Deno.test("failures before and after unknown time are not in a row", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:01", BAD);
  m.check("15:00", BAD);
  equal(m.status(), "up");
  m.check("15:01", BAD);
  equal(selectOutages(m.deps.db)[0]!.startedAt, "2026-03-01T15:00:00.000Z");
});

Deno.test("a pause is unknown time, even during an outage, which it does not end", () => {
  using m = monitored();
  m.check("12:00", BAD);
  m.check("12:01", BAD);
  m.app.clock.set(at("12:02"));
  equal(pauseMonitor(m.deps, "m1").status, "paused");
  deepEqual(m.spans("down", "12:00", "13:00"), ["12:00-12:02"]);
  m.check("12:30", OK);
  equal(m.status(), "down");
  m.app.clock.set(at("13:00"));
  equal(resumeMonitor(m.deps, "m1").status, "down");
  m.check("13:00:01", BAD);
  m.check("13:01", OK);
  deepEqual(m.spans("down", "12:00", "13:05"), ["12:00-12:02", "13:00:01-13:01"]);
  deepEqual(m.spans("known", "12:00", "13:02"), ["12:00-12:02", "13:00:01-13:02"]);
  deepEqual(m.events.map(({ event }) => event), ["monitor.down", "monitor.up"]);
});

Deno.test("a monitor that was up is pending after a pause; earlier failures do not count", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:01", BAD);
  pauseMonitor(m.deps, "m1");
  m.app.clock.set(at("12:01:30"));
  equal(resumeMonitor(m.deps, "m1").status, "pending");
  m.check("12:02", BAD);
  equal(m.status(), "pending");
  m.check("12:03", OK);
  equal(m.status(), "up");
});

Deno.test("pausing or resuming twice has no further effect", () => {
  using m = monitored();
  m.check("12:00", OK);
  pauseMonitor(m.deps, "m1");
  m.app.clock.set(at("12:10"));
  pauseMonitor(m.deps, "m1");
  m.app.clock.set(at("12:20"));
  resumeMonitor(m.deps, "m1");
  resumeMonitor(m.deps, "m1");
  m.check("12:20", OK);
  deepEqual(m.spans("known", "12:00", "12:21"), ["12:20-12:21"]);
});

Deno.test("the history of a deleted monitor is kept; its checks are deleted", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:01", BAD);
  m.check("12:02", BAD);
  m.app.clock.set(at("12:03"));
  removeMonitor(m.deps, "m1");
  equal(selectOutages(m.deps.db)[0]!.resolvedAt, "2026-03-01T12:03:00.000Z");
  deepEqual(m.spans("down", "12:00", "18:00"), ["12:01-12:03"]);
  deepEqual(m.spans("known", "12:00", "18:00"), ["12:00-12:03"]);
  equal(countChecks(m.deps.metrics, "m1"), 0);
});

Deno.test("the history is clipped and separate for each monitor", () => {
  using m = monitored();
  addMonitor(m.app, "m2", 0);
  m.check("12:00", BAD, "m2");
  m.check("12:01", BAD);
  m.check("12:02", BAD);
  m.check("12:02", BAD, "m2");
  m.check("12:03", OK, "m2");
  m.check("12:04", OK);
  const range = [new Date(at("12:01:30")), new Date(at("12:03:30"))] as const;
  const times = loadHistory(m.deps, ["m1", "m2", "unknown"], ...range);
  deepEqual(
    [...times].map(([id, { down, known }]) => [
      id,
      down.map(({ start, end }) => [clockOf(start), clockOf(end)]),
      known.length,
    ]),
    [
      ["m1", [["12:01:30", "12:03:30"]], 1],
      ["m2", [["12:01:30", "12:03"]], 1],
      ["unknown", [], 0],
    ],
  );
  equal(loadHistory(m.deps, [], ...range).size, 0);
});

Deno.test("a longer interval does not create a gap", async () => {
  using m = monitored();
  m.check("12:00", OK);
  await changeMonitor(m.deps, "m1", { intervalSeconds: 3_600 });
  m.check("12:00:01", OK);
  m.check("12:59", OK);
  deepEqual(m.spans("known", "12:00", "13:00"), ["12:00-13:00"]);
});

Deno.test("checks work after the clock was set back", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:10", BAD);
  m.check("12:11", BAD);
  m.check("12:05", BAD);
  m.check("12:06", OK);
  equal(m.status(), "up");
  const [outage] = selectOutages(m.deps.db);
  equal(outage!.resolvedAt, outage!.startedAt);
});

Deno.test("checks in the same millisecond are all kept, the last one first", () => {
  using m = monitored();
  m.check("12:00", OK);
  m.check("12:00", BAD);
  m.check("12:00", { ...OK, responseTimeMs: 7 });
  const { checks, total } = listChecks(m.deps, "m1", { limit: 2, offset: 0 });
  equal(total, 3);
  deepEqual(checks.map(({ status, responseTimeMs }) => [status, responseTimeMs]), [
    ["up", 7],
    ["down", 9],
  ]);
});

Deno.test("during maintenance outages are recorded without webhook messages", () => {
  using m = monitored({ retries: 0 });
  m.deps.maintenance.set({ enabled: true, until: null, reason: null });
  m.check("12:00", BAD);
  equal(selectOutages(m.deps.db).length, 1);
  equal(m.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM outbox_messages")!.n, 0);
});

Deno.test("an outage is not stored if its messages cannot be stored", () => {
  using m = monitored({ retries: 0 });
  const recorder = {
    edition: "ce" as const,
    record: () => {
      throw new Error("disk full");
    },
  };
  const deps = { ...m.deps, recorders: [recorder] };
  let failure = "";
  try {
    recordCheck(deps, "m1", m.deps.now(), BAD);
  } catch (error) {
    failure = String(error);
  }
  match(failure, /disk full/);
  deepEqual([m.status(), selectOutages(m.deps.db).length], ["pending", 0]);
  // The next check stores the outage.
  m.check("12:01", BAD);
  equal(m.status(), "down");
});

Deno.test("statistics cover three windows", () => {
  using m = monitored({ now: "2026-01-20T00:00:00Z" });
  const day = (n: number, time = "00:00:00") =>
    new Date(Date.parse(`2026-01-20T${time}Z`) + n * 86_400_000).toISOString();
  const record = (time: string, result: typeof OK | typeof BAD) => m.check(time, result);
  // Hourly checks for 40 days; outages of two hours on day 35 and of one hour on day 39.
  m.deps.db.run("UPDATE uptime_monitors SET interval_seconds = 3600, retries = 0");
  for (let hour = 0; hour <= 40 * 24; hour++) {
    const [at, of] = [Math.floor(hour / 24), hour % 24];
    const isBad = (at === 35 && (of === 5 || of === 6)) || (at === 39 && of === 12);
    const time = day(at, `${String(of).padStart(2, "0")}:00:00`);
    record(time, isBad ? BAD : { ...OK, responseTimeMs: at >= 39 ? 40 : 10 });
  }
  const stats = getUptimeStats(m.deps, "m1");
  deepEqual(stats["24h"], {
    uptimePercent: 95.8333,
    avgResponseTimeMs: 40,
    p95ResponseTimeMs: 40,
    totalChecks: 25,
    totalDowntimeSeconds: 3_600,
  });
  equal(stats["7d"].totalChecks, 7 * 24 + 1);
  equal(stats["7d"].totalDowntimeSeconds, 3 * 3_600);
  equal(stats["7d"].uptimePercent, 98.2142);
  equal(stats["30d"].totalChecks, 30 * 24 + 1);
  equal(stats["30d"].uptimePercent, 99.5833);
  equal(stats["30d"].p95ResponseTimeMs, 11);
  equal(getMonitor(m.deps, "m1").uptime24h, 95.8333);
});

Deno.test("statistics of an unchecked monitor are empty", () => {
  using m = monitored();
  const empty = {
    uptimePercent: null,
    avgResponseTimeMs: null,
    p95ResponseTimeMs: null,
    totalChecks: 0,
    totalDowntimeSeconds: 0,
  };
  deepEqual(getUptimeStats(m.deps, "m1"), { "24h": empty, "7d": empty, "30d": empty });
  equal(getMonitor(m.deps, "m1").uptime24h, null);
  m.check("12:00", OK);
  equal(getMonitor(m.deps, "m1").uptime24h, 100);
});

Deno.test("old checks and roll-ups are deleted", async () => {
  using m = monitored();
  const { db, metrics } = m.deps;
  m.check("2026-02-01T12:00:00Z", BAD);
  m.check("2026-02-01T12:01:00Z", BAD);
  m.check("2026-02-01T12:02:00Z", OK);
  const start = Date.parse("2026-03-05T00:00:00Z");
  metrics.transaction(() => {
    for (let i = 0; i < 10_050; i++) {
      insertCheck(metrics, { monitorId: "m1", checkedAt: start + i * 1000, ...OK });
    }
  });
  m.check("2026-03-05T12:00:00Z", OK);
  addMonitor(m.app, "gone", 0);
  m.check("2026-03-05T12:00:00Z", OK, "gone");
  deleteMonitor(db, "gone");
  await sweepChecks(m.deps);
  equal(countChecks(metrics, "m1"), 10_000);
  equal(countChecks(metrics, "gone"), 0);
  equal(selectRollups(metrics, { monitorId: "m1", resolution: 900, from: 0 }).length, 1);
  equal(selectRollups(metrics, { monitorId: "m1", resolution: 3_600, from: 0 }).length, 1);
  m.app.clock.set("2026-03-13T00:00:00Z");
  await sweepChecks(m.deps);
  equal(countChecks(metrics, "m1"), 0);

  sweepOutages(m.deps);
  equal(selectOutages(db).length, 1);
  m.app.clock.set("2027-04-01T00:00:00Z");
  sweepOutages(m.deps);
  equal(selectOutages(db).length, 0);
});
