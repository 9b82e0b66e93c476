/**
 * Sampling of 100 running containers every 15 seconds: its share of a core, and the time to read
 * their history. The engine is simulated, so that only the service is measured.
 *
 * @module
 */

import { openMetricsDatabase } from "../db/database.ts";
import { migrate } from "../db/migrate.ts";
import { metricsMigrations } from "../db/migrations/metrics/mod.ts";
import { readContainerHistory } from "../services/metrics/container_history.ts";
import { containerOf, idOf, simulateContainers } from "../tests/helpers/fake_containers.ts";
import { fakeEngine } from "../tests/helpers/fake_engine.ts";
import { testApp } from "../tests/helpers/test_app.ts";
import { bundlePrograms, cpuPercent, start } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const CONTAINERS = 100;

/** After the start, which samples all containers at once. */
const SETTLING_S = 30;
const MEASURED_S = 120;

const CORE_PERCENT_MAX = 2;
const HISTORY_MS_MAX = 20;

export async function benchSampling(): Promise<void> {
  await using bundles = await bundlePrograms();
  const idle = await share(bundles.service, 0);
  const sampling = await share(bundles.service, CONTAINERS);
  printTable(`${CONTAINERS} containers, sampled every 15 s, over ${MEASURED_S} s`, [{
    "samples": sampling.samples,
    "% of a core": sampling.percent,
    "without containers": idle.percent,
    "difference": sampling.percent - idle.percent,
  }]);
  printVerdict("share of one core", sampling.percent - idle.percent, CORE_PERCENT_MAX, " %");
  await benchHistory();
}

async function share(script: string, count: number): Promise<{ percent: number; samples: number }> {
  const containers = Array.from({ length: count }, (_, n) => ({ name: `bench-${n}` }));
  let samples = 0;
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
    "GET /events": () => new Response(new ReadableStream()),
    "GET /containers/*/stats": () => Response.json(statsOf(++samples)),
  });
  await using service = await start(script, { DOCKER_HOST: `unix://${fake.socketPath}` });
  await new Promise((resolve) => setTimeout(resolve, SETTLING_S * 1000));
  const before = samples;
  const percent = await cpuPercent(service, MEASURED_S);
  return { percent, samples: samples - before };
}

/** As large as an engine's response on cgroup v1. */
function statsOf(n: number) {
  const cores = Array.from({ length: 16 }, () => 1e9 * n);
  const memory = Object.fromEntries(
    Array.from({ length: 36 }, (_, at) => [`total_some_figure_${at}`, 1_000_000 + at]),
  );
  const entries = ["Read", "Write", "Sync", "Async", "Discard", "Total"]
    .map((op) => ({ major: 8, minor: 0, op, value: 4_096 * n }));
  return {
    read: new Date().toISOString(),
    preread: "0001-01-01T00:00:00Z",
    pids_stats: { current: 5 },
    cpu_stats: {
      cpu_usage: { total_usage: 1e7 * n, percpu_usage: cores, usage_in_usermode: 1e6 * n },
      system_cpu_usage: 1e12,
      online_cpus: 16,
      throttling_data: { periods: 0, throttled_periods: 0, throttled_time: 0 },
    },
    precpu_stats: { cpu_usage: { total_usage: 0 } },
    memory_stats: {
      usage: 50_000_000,
      max_usage: 60_000_000,
      limit: 8e9,
      stats: { total_inactive_file: 1_000_000, total_rss: 2_000_000, ...memory },
    },
    blkio_stats: { io_service_bytes_recursive: entries, io_serviced_recursive: entries },
    networks: {
      eth0: {
        ...{ rx_bytes: n, rx_packets: n, rx_errors: 0, rx_dropped: 0 },
        ...{ tx_bytes: n, tx_packets: n, tx_errors: 0, tx_dropped: 0 },
      },
    },
  };
}

/** The history of one of 100 containers that have been sampled for 30 days. */
async function benchHistory(): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-bench-history-" });
  const metrics = openMetricsDatabase(`${directory}/metrics.sqlite`);
  using app = testApp({ now: "2026-02-01T00:00:00Z" });
  try {
    migrate(metrics, metricsMigrations);
    fill(metrics, Date.parse("2026-02-01T00:00:00Z") / 1000);
    const { inventory } = app.deps;
    const name = "bench-50";
    inventory.put(containerOf({ name, id: idOf(name) }), inventory.readNumber());
    inventory.setLive(true);
    const deps = { ...app.deps, metrics };
    const rows = [];
    for (const range of ["1h", "4h", "16h", "3d", "7d", "30d"]) {
      const times: number[] = [];
      let points = 0;
      for (let round = 0; round < 20; round++) {
        const began = performance.now();
        points = (await readContainerHistory(deps, name, { range })).history.length;
        times.push(performance.now() - began);
      }
      rows.push({ range, points, "p50 ms": median(times), "max ms": Math.max(...times) });
    }
    const { size } = await Deno.stat(`${directory}/metrics.sqlite`);
    printTable(`History of one of ${CONTAINERS} containers, ${Math.round(size / 1e6)} MB`, rows);
    printVerdict(
      "slowest median of a history",
      Math.max(...rows.map((row) => row["p50 ms"])),
      HISTORY_MS_MAX,
      " ms",
    );
  } finally {
    metrics.close();
    await Deno.remove(directory, { recursive: true });
  }
}

function fill(metrics: ReturnType<typeof openMetricsDatabase>, until: number): void {
  metrics.transaction(() => {
    for (let n = 0; n < CONTAINERS; n++) {
      const series = n + 1;
      metrics.run(
        "INSERT INTO container_series VALUES (:series, 'local', :name, :until)",
        { series, name: `bench-${n}`, until },
      );
      for (const [resolution, days] of [[15, 2], [60, 8], [900, 30]] as const) {
        metrics.run(
          `WITH RECURSIVE times (ts) AS (
             SELECT :until - :days * 86400 UNION ALL
             SELECT ts + :resolution FROM times WHERE ts + :resolution < :until
           )
           INSERT INTO container_samples
           SELECT :series, :resolution, ts, :resolution / 15, 1.5, 12.5, 99.5, 900, 1000000, 2000000
           FROM times`,
          { series, resolution, days, until },
        );
      }
    }
  });
}
