import { deepEqual, equal, ok } from "node:assert/strict";
import { type MetricsDatabase, openMetricsDatabase } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import { metricsMigrations } from "../../../db/migrations/metrics/mod.ts";
import { selectFileSize } from "../../../db/free_pages.ts";
import {
  type HostSamplerState,
  readHistory,
  recordHostSample,
  sweepHistory,
} from "../../../services/metrics/history.ts";
import { untilNextRoundMs } from "../../../services/metrics/sampler.ts";
import { createHostCache, type HostSample } from "../../../services/metrics/host/cache.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { containerOf } from "../../helpers/fake_containers.ts";
import { openTestMetrics, testClock } from "../../helpers/test_app.ts";

const START = "2026-01-01T00:00:00Z";
const EMPTY = { min: null, avg: null, max: null };

/** A host with values set by the test; each round takes a sample and stores it. */
function history(metrics: MetricsDatabase = openTestMetrics(), start = START) {
  const clock = testClock(start);
  const host = createHostCache();
  const inventory = createInventory(clock.now);
  const memory: HostSamplerState = {};
  let cpuTime = { busy: 0, total: 0 };
  inventory.setLive(true);
  const deps = { host, inventory, metrics, now: clock.now };

  return {
    deps,
    clock,
    inventory,
    metrics,
    /** @param cpuPercent Over the 15 seconds before. */
    async round(cpuPercent: number, changes: Partial<HostSample> = {}): Promise<boolean> {
      cpuTime = { busy: cpuTime.busy + cpuPercent, total: cpuTime.total + 100 };
      await host.refresh(() =>
        Promise.resolve({
          cpuPercent,
          cpuCount: 2,
          memory: { total: 100, used: 40, percent: 40, available: 60 },
          swap: { total: 0, used: 0, percent: 0, free: 0 },
          disk: { path: "/", total: 100, used: 60, percent: 60, free: 40 },
          load: [0.5, 0, 0],
          uptimeSeconds: 1,
          network: null,
          cpuTime,
          timestamp: clock.now().toISOString(),
          ...changes,
        })
      );
      return recordHostSample(deps, memory);
    },
    /** Rounds with these percentages of CPU use, 15 seconds apart. */
    async rounds(cpuPercents: readonly number[]): Promise<void> {
      for (const cpuPercent of cpuPercents) {
        await this.round(cpuPercent);
        clock.advance({ seconds: 15 });
      }
    },
    read: (hours: number) => readHistory(deps, { hours }),
    rows: (resolution: number) =>
      metrics.all<Record<string, number | null>>(
        "SELECT * FROM metric_samples WHERE resolution = :resolution ORDER BY ts",
        { resolution },
      ).map((row) => ({ ...row })),
    count: (resolution: number) =>
      metrics.get<{ n: number }>(
        "SELECT count(*) AS n FROM metric_samples WHERE resolution = :resolution",
        { resolution },
      )!.n,
    [Symbol.dispose]: () => metrics.close(),
  };
}

Deno.test("a history without samples is empty, with a summary of null", () => {
  using host = history();
  deepEqual(host.read(24), {
    from: "2025-12-31T00:00:00.000Z",
    to: START.replace("Z", ".000Z"),
    hours: 24,
    resolutionSeconds: 120,
    history: [],
    summary: {
      cpuPercent: EMPTY,
      memoryPercent: EMPTY,
      diskPercent: EMPTY,
      load1: EMPTY,
      containersRunning: EMPTY,
      containersTotal: EMPTY,
    },
  });
});

Deno.test("samples are stored with the time of their round", async () => {
  using host = history();
  host.inventory.put(containerOf({ name: "a" }), 1);
  host.inventory.put(containerOf({ name: "b", state: "exited" }), 2);
  host.clock.advance({ seconds: 15, ms: 321 });
  await host.round(25);

  const { history: points, resolutionSeconds } = host.read(1);

  equal(resolutionSeconds, 15);
  deepEqual(points, [{
    timestamp: "2026-01-01T00:00:15.000Z",
    cpuPercent: 25,
    memoryPercent: 40,
    diskPercent: 60,
    load1: 0.5,
    containersRunning: 1,
    containersTotal: 2,
  }]);
});

Deno.test("CPU use is averaged since the last sample", async () => {
  using host = history();
  await host.round(10);
  host.clock.advance({ seconds: 15 });
  // The host sample covers only the last few seconds.
  await host.round(80, { cpuPercent: 99 });
  deepEqual(host.read(1).history.map(({ cpuPercent }) => cpuPercent), [10, 80]);
});

Deno.test("a timer that fires early does not store a round twice", async () => {
  using host = history();
  equal(await host.round(10), true);
  host.clock.advance({ ms: 14_999 });
  equal(await host.round(20), false);
  host.clock.advance({ ms: 1 });
  equal(await host.round(30), true);
  equal(host.rows(15).length, 2);
});

Deno.test("rounds begin at multiples of 15 seconds", () => {
  equal(untilNextRoundMs(new Date("2026-01-01T00:00:00.000Z")), 15_000);
  equal(untilNextRoundMs(new Date("2026-01-01T00:00:14.999Z")), 1);
  equal(untilNextRoundMs(new Date("2026-01-01T00:00:16.000Z")), 14_000);
});

Deno.test("roll-ups have minimum, mean and maximum, and include the current minute", async () => {
  using host = history();
  await host.rounds([10, 20, 30, 90, 50]);

  const minutes = host.rows(60);
  deepEqual(
    minutes.map((row) => [
      row.samples,
      row.cpu_percent_min,
      row.cpu_percent,
      row.cpu_percent_max,
    ]),
    [[4, 10, 37.5, 90], [1, 50, 50, 50]],
  );
  const [quarter] = host.rows(900);
  deepEqual(
    [quarter!.samples, quarter!.cpu_percent_min, quarter!.cpu_percent, quarter!.cpu_percent_max],
    [5, 10, 40, 90],
  );
});

Deno.test("the summary covers all samples, independent of the points", async () => {
  using host = history();
  // An idle hour with a single spike, and a minute with a single sample.
  const quiet = Array.from({ length: 239 }, () => 1);
  await host.rounds([...quiet, 100, 41]);

  for (const hours of [1, 4, 12, 24, 72, 168]) {
    const { summary } = host.read(hours);
    const expected = (hours === 1 ? 1 * 238 + 141 : 1 * 239 + 141) / (hours === 1 ? 240 : 241);
    deepEqual(
      summary.cpuPercent,
      { min: 1, avg: Math.round(expected * 100) / 100, max: 100 },
      `${hours} hours`,
    );
  }
});

Deno.test("a restart within a minute counts no sample twice", async () => {
  const path = await Deno.makeTempFile({ prefix: "metrics-", suffix: ".sqlite" });
  await Deno.remove(path);
  const open = () => {
    const metrics = openMetricsDatabase(path);
    migrate(metrics, metricsMigrations);
    return metrics;
  };
  try {
    {
      using before = history(open());
      await before.rounds([10, 20]);
    }
    using after = history(open(), "2026-01-01T00:00:30Z");
    await after.rounds([30, 40]);
    const [minute] = after.rows(60);
    deepEqual([minute!.samples, minute!.cpu_percent], [4, 25]);
    equal(after.rows(900)[0]!.samples, 4);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(path + suffix).catch(() => {});
  }
});

Deno.test("a period without samples is a gap", async () => {
  using host = history();
  await host.rounds([10, 10]);
  host.clock.advance({ minutes: 30 });
  await host.rounds([20]);

  deepEqual(host.read(1).history.map(({ timestamp }) => timestamp), [
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:15.000Z",
    "2026-01-01T00:30:30.000Z",
  ]);
  equal(host.read(24).history.length, 2);
});

Deno.test("an outdated host sample leaves a gap", async () => {
  using host = history();
  await host.round(10);
  host.clock.advance({ seconds: 15 });
  equal(await host.round(20, { timestamp: "2025-12-31T23:59:00.000Z" }), false);
  equal(host.rows(15).length, 1);
});

Deno.test("while the engine is unreachable there are no counts, and the summary ignores them", async () => {
  using host = history();
  host.inventory.put(containerOf({ name: "a" }), 1);
  await host.rounds([10, 10]);
  host.inventory.setLive(false);
  await host.rounds([30, 30]);

  const { history: points, summary } = host.read(1);
  deepEqual(points.map(({ containersTotal }) => containersTotal), [1, 1, null, null]);
  deepEqual(summary.containersTotal, { min: 1, avg: 1, max: 1 });
  deepEqual(host.read(24).history.map((point) => [point.cpuPercent, point.containersRunning]), [
    [20, 1],
  ]);

  host.clock.advance({ minutes: 20 });
  await host.rounds([10]);
  equal(host.read(168).history[1]!.containersRunning, null);
});

Deno.test("after the clock is set back, samples are replaced and future ones are hidden", async () => {
  using host = history();
  await host.rounds([10, 10, 10, 10]);
  host.clock.set(START);
  await host.rounds([90, 90]);

  deepEqual(host.read(1).history.map(({ cpuPercent }) => cpuPercent), [90, 90, 10]);
  host.clock.set("2026-01-01T00:00:15Z");
  deepEqual(host.read(1).history.map(({ cpuPercent }) => cpuPercent), [90, 90]);
  // The minute consists of the stored samples: two of each.
  deepEqual(host.rows(60).map((row) => [row.samples, row.cpu_percent]), [[4, 50]]);
});

for (
  const { hours, resolutionSeconds } of [
    { hours: 1, resolutionSeconds: 15 },
    { hours: 4, resolutionSeconds: 15 },
    { hours: 5, resolutionSeconds: 60 },
    { hours: 16, resolutionSeconds: 60 },
    { hours: 17, resolutionSeconds: 120 },
    { hours: 24, resolutionSeconds: 120 },
    { hours: 33, resolutionSeconds: 120 },
    { hours: 34, resolutionSeconds: 300 },
    { hours: 83, resolutionSeconds: 300 },
    { hours: 84, resolutionSeconds: 900 },
    { hours: 168, resolutionSeconds: 900 },
  ]
) {
  Deno.test(`${hours} hours at full rate are at most 1000 points`, () => {
    using host = history();
    fill(host.metrics, Date.parse(START) / 1000, 8);
    host.clock.advance({ days: 8, ms: 7_500 });

    const answer = host.read(hours);

    equal(answer.resolutionSeconds, resolutionSeconds);
    const least = hours * 3600 / resolutionSeconds;
    ok(answer.history.length >= least - 1 && answer.history.length <= 1000);
    const times = answer.history.map(({ timestamp }) => Date.parse(timestamp));
    for (const [at, time] of times.slice(1).entries()) {
      equal(time - times[at]!, resolutionSeconds * 1000);
    }
  });
}

Deno.test("reading seven days uses the index", () => {
  using host = history();
  const plan = host.metrics.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT ts FROM metric_samples
     WHERE host_id = 'local' AND resolution = 900 AND ts >= 1 AND ts <= 2`,
  );
  deepEqual(plan.map(({ detail }) => detail), [
    "SEARCH metric_samples USING PRIMARY KEY (host_id=? AND resolution=? AND ts>? AND ts<?)",
  ]);
});

Deno.test("rows expire after 2, 8 and 30 days, a limited number per round, and free their space", async () => {
  using host = history();
  fill(host.metrics, Date.parse(START) / 1000, 35);
  host.clock.advance({ days: 35 });
  await host.round(1);
  const full = selectFileSize(host.metrics).bytes;

  const before = host.count(15);
  sweepHistory(host.deps);
  equal(before - host.count(15), 500);

  for (let round = 0; round < 400; round++) sweepHistory(host.deps);
  deepEqual([15, 60, 900].map((resolution) => host.count(resolution)), [
    2 * 24 * 240 + 1,
    8 * 24 * 60 + 1,
    30 * 24 * 4 + 1,
  ]);
  ok(selectFileSize(host.metrics).bytes < full / 2);
  ok(selectFileSize(host.metrics).freeBytes <= 1024 * 1024 + 64 * 4096);
});

/** Inserts rows of every resolution at full rate, which is faster than 35 days of rounds. */
function fill(metrics: MetricsDatabase, from: number, days: number): void {
  for (const resolution of [15, 60, 900]) {
    metrics.run(
      `WITH RECURSIVE times (ts) AS (
         SELECT :from UNION ALL SELECT ts + :resolution FROM times WHERE ts + :resolution < :until
       )
       INSERT INTO metric_samples
         (host_id, resolution, ts, samples, engine_samples,
          cpu_percent, memory_percent, disk_percent, load_1)
       SELECT 'local', :resolution, ts, :resolution / 15, 0, 12.5, 40.1, 60.2, 0.33 FROM times`,
      { resolution, from, until: from + days * 24 * 3600 },
    );
  }
}
