/** Evaluation of 500 alert rules on 200 containers, which happens every 5 seconds. @module */

import { evaluateAlerts } from "../services/alerts/evaluation.ts";
import { createAlertRule } from "../services/alerts/rules.ts";
import { containerOf, idOf } from "../tests/helpers/fake_containers.ts";
import { type TestApp, testApp } from "../tests/helpers/test_app.ts";
import { printTable, printVerdict } from "./table.ts";

const RULES = 500;
const CONTAINERS = 200;
const ROUNDS = 60;
const ROUND_MS = 5_000;

/** Share of a core. */
const CORE_PERCENT_MAX = 2;

const METRICS = [
  "container_cpu_percent",
  "container_memory_percent",
  "container_memory_bytes",
  "container_not_running",
  "container_unhealthy",
  "container_restarts",
] as const;

const names = Array.from({ length: CONTAINERS }, (_, n) => `bench-${n}`);

export async function benchAlerts(): Promise<void> {
  using app = testApp({ edition: "pro" });
  for (let n = 0; n < RULES; n++) {
    createAlertRule(app.deps, {
      name: `Rule ${n}`,
      metric: METRICS[n % METRICS.length]!,
      operator: ">",
      // One rule in ten is pending for every container.
      threshold: n % 10 === 0 ? -1 : 1e9,
      durationSeconds: 86_400,
      autoIncident: false,
    });
  }
  setContainers(app);
  sample(app);
  evaluateAlerts(app.deps);
  const quiet = measure(app, () => {});
  const busy = measure(app, () => setContainers(app));
  await Promise.resolve();
  printTable(`${RULES} rules on ${CONTAINERS} containers, each for all of them`, [
    { "inventory": "unchanged", "ms a round": quiet, "% of a core": 100 * quiet / ROUND_MS },
    { "inventory": "changed each round", "ms a round": busy, "% of a core": 100 * busy / ROUND_MS },
  ]);
  printVerdict("share of one core", 100 * busy / ROUND_MS, CORE_PERCENT_MAX, " %");
}

/** Mean time of a round, because not every round stores something. */
function measure(app: TestApp, change: () => void): number {
  let totalMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    app.clock.advance({ seconds: 5 });
    sample(app);
    change();
    const began = performance.now();
    evaluateAlerts(app.deps);
    totalMs += performance.now() - began;
  }
  return totalMs / ROUNDS;
}

function setContainers(app: TestApp): void {
  const { inventory } = app.deps;
  inventory.replaceAll(names.map((name) => containerOf({ name })), inventory.readNumber());
  inventory.setLive(true);
}

function sample(app: TestApp): void {
  for (const name of names) {
    app.deps.stats.put(idOf(name), {
      ...{ cpuPercent: 5, cpuSeconds: 1, memoryUsage: 1e8, memoryLimit: 1e9, memoryPercent: 10 },
      ...{ networkRx: 0, networkTx: 0, blockRead: 0, blockWrite: 0, pids: 1 },
      read: app.deps.now().toISOString(),
    });
  }
}
