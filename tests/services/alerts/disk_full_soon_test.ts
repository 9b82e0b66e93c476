import { deepEqual, equal } from "node:assert/strict";
import { insertMetricSample, rollUpMetricSamples } from "../../../db/metric_samples.ts";
import { reportDiskFullSoon } from "../../../services/alerts/disk_full_soon.ts";
import type { EventMap } from "../../../services/events/kinds/mod.ts";
import type { HostSample } from "../../../services/metrics/host/cache.ts";
import { openTestDatabase, type TestApp, testApp } from "../../helpers/test_app.ts";

/** Lets two hours pass, in which the use changes by so much an hour. */
async function pass(app: TestApp, from: number, perHour: number): Promise<number> {
  const { host, metrics } = app.deps;
  let diskPercent = from;
  for (let minute = 0; minute < 120; minute++) {
    app.clock.advance({ minutes: 1 });
    diskPercent = from + perHour * minute / 60;
    const ts = Math.floor(app.deps.now().getTime() / 60_000) * 60;
    insertMetricSample(metrics, {
      ...{ hostId: "local", ts, cpuPercent: 1, memoryPercent: 1, diskPercent, load1: 1 },
      ...{ containersRunning: 1, containersTotal: 1 },
    });
    rollUpMetricSamples(metrics, { hostId: "local", ts, of: 15, into: 60 });
  }
  await host.refresh(() =>
    Promise.resolve({
      disk: { path: "/", percent: diskPercent },
      timestamp: app.deps.now().toISOString(),
    } as HostSample)
  );
  return diskPercent;
}

function collect(app: TestApp): EventMap["host.disk_full_soon"][] {
  const seen: EventMap["host.disk_full_soon"][] = [];
  const { publish } = app.deps.events;
  app.deps.events.publish = (event) => {
    if (event.event === "host.disk_full_soon") seen.push(event.data);
    publish(event);
  };
  return seen;
}

Deno.test("host.disk_full_soon is sent once for each prediction of less than a day", async () => {
  using app = testApp({ now: "2026-01-01T00:00:00Z" });
  const events = collect(app);
  // Without a history nothing is predicted.
  reportDiskFullSoon(app.deps);
  let used = await pass(app, 50, 0);
  reportDiskFullSoon(app.deps);
  deepEqual(events, []);

  used = await pass(app, used, 5);
  used = await pass(app, used, 5);
  reportDiskFullSoon(app.deps);
  reportDiskFullSoon(app.deps);
  equal(events.length, 1);
  const { path, hoursLeft, fullAt } = events[0]!;
  equal(path, "/");
  equal(hoursLeft > 5 && hoursLeft < 12, true, `${hoursLeft}`);
  equal(Date.parse(fullAt), app.deps.now().getTime() + hoursLeft * 3_600_000);

  // It continues more slowly, which is the same danger.
  used = await pass(app, used, 1);
  reportDiskFullSoon(app.deps);
  equal(events.length, 1);

  // Space was freed: the next growth is another danger.
  for (let n = 0; n < 4; n++) used = await pass(app, 40, 0);
  reportDiskFullSoon(app.deps);
  for (let n = 0; n < 3; n++) used = await pass(app, used, 6);
  reportDiskFullSoon(app.deps);
  equal(events.length, 2);
});

Deno.test("host.disk_full_soon is not repeated after a restart, and waits for maintenance", async () => {
  const db = openTestDatabase();
  for (const expected of [1, 0]) {
    using app = testApp({ db, now: "2026-01-01T00:00:00Z" });
    const events = collect(app);
    let used = await pass(app, 60, 5);
    used = await pass(app, used, 5);
    app.deps.maintenance.set({ enabled: true, until: null, reason: null });
    reportDiskFullSoon(app.deps);
    equal(events.length, 0);
    app.deps.maintenance.set({ enabled: false, until: null, reason: null });
    reportDiskFullSoon(app.deps);
    equal(events.length, expected);
  }
  db.close();
});
