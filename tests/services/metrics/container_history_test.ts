import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import {
  type ContainerSamplerState,
  readContainerHistory,
  recordContainerSamples,
  sweepContainerHistory,
} from "../../../services/metrics/container_history.ts";
import type {
  ContainerCounters,
  ContainerStats,
} from "../../../services/containers/stats_cache.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";
import { testApp } from "../../helpers/test_app.ts";

const NO_RATES = {
  networkRxPerSecond: null,
  networkTxPerSecond: null,
  blockReadPerSecond: null,
  blockWritePerSecond: null,
};

const START = "2026-01-01T00:00:00Z";

function history() {
  const app = testApp({ now: START });
  const { deps, clock } = app;
  const { inventory, metrics, stats } = deps;
  let memory: ContainerSamplerState = {};
  inventory.setLive(true);
  return {
    ...app,
    add: (name: string, id = idOf(name)) =>
      inventory.put(containerOf({ name, id }), inventory.readNumber()),
    restart: () => void (memory = {}),
    /** Stores a sample of each container and advances the clock by 15 seconds. */
    round(
      samples: Record<string, [cpuPercent: number, memoryUsage: number]>,
      counters: Partial<ContainerStats> = {},
    ): void {
      for (const [id, [cpuPercent, memoryUsage]] of Object.entries(samples)) {
        const read = deps.now().toISOString();
        stats.put(id, { cpuPercent, memoryUsage, read, ...counters } as ContainerStats);
      }
      recordContainerSamples(deps, memory);
      clock.advance({ seconds: 15 });
    },
    record: () => recordContainerSamples(deps, memory),
    sweep: () => sweepContainerHistory(deps, memory),
    read: (ref: string, hours = 1) => readContainerHistory(deps, ref, { hours }),
    rows: (resolution: number) =>
      metrics.all<Record<string, number>>(
        `SELECT ts, samples, cpu_percent AS cpu, cpu_percent_max AS cpuMax, memory
         FROM container_samples WHERE resolution = :resolution ORDER BY series, ts`,
        { resolution },
      ).map((row) => ({ ...row })),
  };
}

Deno.test("samples are stored by container name, with a summary", async () => {
  using app = history();
  app.add("web");
  app.round({ [idOf("web")]: [10, 1_000] });
  app.round({ [idOf("web")]: [30, 3_000] });

  const { name, resolutionSeconds, history: points, summary } = await app.read("web");

  deepEqual([name, resolutionSeconds], ["web", 15]);
  deepEqual(points, [
    { timestamp: "2026-01-01T00:00:00.000Z", cpuPercent: 10, memory: 1_000, ...NO_RATES },
    { timestamp: "2026-01-01T00:00:15.000Z", cpuPercent: 30, memory: 3_000, ...NO_RATES },
  ]);
  const none = { min: null, avg: null, max: null };
  deepEqual(summary, {
    cpuPercent: { min: 10, avg: 20, max: 30 },
    memory: { min: 1_000, avg: 2_000, max: 3_000 },
    networkRxPerSecond: none,
    networkTxPerSecond: none,
    blockReadPerSecond: none,
    blockWritePerSecond: none,
  });
});

Deno.test("rates are measured between two samples of a run, also in roll-ups", async () => {
  using app = history();
  app.add("web");
  const counters = (networkRx: number, networkTx: number, blockRead: number, blockWrite: number) =>
    app.round({ [idOf("web")]: [1, 1] }, { networkRx, networkTx, blockRead, blockWrite });
  counters(1_000, 0, 0, 0);
  counters(16_000, 30, 0, 1_500);
  counters(61_000, 30, 150, 1_500);
  // A restart sets the counters to 0.
  counters(0, 0, 0, 0);
  counters(150, 0, 0, 0);

  const rates = (await app.read("web")).history.map((point) => [
    ...[point.networkRxPerSecond, point.networkTxPerSecond],
    ...[point.blockReadPerSecond, point.blockWritePerSecond],
  ]);
  deepEqual(rates, [
    [null, null, null, null],
    [1_000, 2, 0, 100],
    [3_000, 0, 10, 0],
    [null, null, null, null],
    [10, 0, 0, 0],
  ]);
  const { history: [point], summary } = await app.read("web", 24);
  equal(point!.networkRxPerSecond, 2_000);
  deepEqual(summary.networkRxPerSecond, { min: 1_000, avg: 2_000, max: 3_000 });
});

Deno.test("a container without a network of its own has no rates of one", async () => {
  using app = history();
  app.add("web");
  const counters = { interfaces: [] as unknown[] } as ContainerCounters;
  const own = { networkRx: 0, networkTx: 0, blockRead: 0, blockWrite: 0, counters };
  for (let n = 0; n < 2; n++) app.round({ [idOf("web")]: [1, 1] }, own);
  const last = (await app.read("web")).history[1]!;
  deepEqual([last.networkRxPerSecond, last.blockReadPerSecond], [null, 0]);
});

Deno.test("a recreated container continues its history, and a removed one keeps it", async () => {
  using app = history();
  const { inventory } = app.deps;
  const [first, second] = ["a".repeat(64), "b".repeat(64)];
  app.add("web", first);
  app.round({ [first]: [1, 1] });
  inventory.replaceAll([containerOf({ name: "web", id: second })], inventory.readNumber());
  app.round({ [second]: [2, 2] });
  deepEqual((await app.read(second)).history.map(({ cpuPercent }) => cpuPercent), [1, 2]);

  inventory.replaceAll([], inventory.readNumber());
  equal((await app.read("web")).history.length, 2);
  await rejects(app.read("other"));
});

Deno.test("a container without a current sample leaves a gap", async () => {
  using app = history();
  app.add("web");
  app.round({ [idOf("web")]: [1, 1] });
  app.clock.advance({ minutes: 1 });
  app.record();
  equal((await app.read("web")).history.length, 1);
});

Deno.test("a minute is rolled up when it is over, also after a restart", async () => {
  using app = history();
  app.add("web");
  for (const cpu of [10, 20]) app.round({ [idOf("web")]: [cpu, 100] });
  app.restart();
  for (const cpu of [30, 100, 5]) app.round({ [idOf("web")]: [cpu, 100] });

  const ts = Date.parse(START) / 1000;
  deepEqual(app.rows(60), [{ ts, samples: 4, cpu: 40, cpuMax: 100, memory: 100 }]);
  deepEqual(app.rows(900), [{ ts, samples: 4, cpu: 40, cpuMax: 100, memory: 100 }]);
  deepEqual((await app.read("web", 24)).summary.cpuPercent, { min: 10, avg: 40, max: 100 });
});

Deno.test("a repeated round is stored once, and replaced if the clock is set back", () => {
  using app = history();
  app.add("web");
  app.deps.stats.put(idOf("web"), { cpuPercent: 1, memoryUsage: 1 } as ContainerStats);
  app.record();
  app.record();
  equal(app.rows(15).length, 1);

  app.clock.advance({ seconds: 15 });
  app.record();
  app.clock.set(START);
  app.deps.stats.put(idOf("web"), { cpuPercent: 7, memoryUsage: 1 } as ContainerStats);
  app.record();
  deepEqual(app.rows(15).map(({ cpu }) => cpu), [7, 1]);
});

Deno.test("rows expire after 2, 8 and 30 days, followed by their series", () => {
  using app = history();
  const { metrics } = app.deps;
  app.add("web");
  app.round({ [idOf("web")]: [1, 1] });
  for (let n = 0; n < 4; n++) app.round({ [idOf("web")]: [1, 1] });
  const left = () => [15, 60, 900].map((resolution) => app.rows(resolution).length);

  const after = [];
  for (const days of [1, 2, 6, 22]) {
    app.clock.advance({ days });
    app.sweep();
    after.push(left());
  }
  deepEqual(after, [[5, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]);
  app.sweep();
  deepEqual(metrics.all("SELECT id FROM container_series"), []);
});

Deno.test("at most 1000 series are kept; the least recently sampled one is deleted", async () => {
  using app = history();
  const { inventory } = app.deps;
  app.add("old");
  app.round({ [idOf("old")]: [1, 1] });
  app.clock.advance({ minutes: 1 });
  const names = Array.from({ length: 1_000 }, (_, n) => `job-${n}`);
  inventory.replaceAll(names.map((name) => containerOf({ name })), inventory.readNumber());
  app.round(Object.fromEntries(names.map((name) => [idOf(name), [1, 1]])));

  equal(app.rows(15).length, 1_000);
  await rejects(app.read("old"));
  equal((await app.read("job-999")).history.length, 1);
});

Deno.test("reading a history uses the index", () => {
  using app = history();
  const plan = app.deps.metrics.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT ts FROM container_samples
     WHERE series = 1 AND resolution = 60 AND ts >= 1 AND ts <= 2`,
  );
  equal(plan.length, 1);
  ok(/SEARCH .* PRIMARY KEY \(series=\? AND resolution=\? AND ts>/.test(plan[0]!.detail));
});
