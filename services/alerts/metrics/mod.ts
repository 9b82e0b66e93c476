/** Every alert metric. @module */

import { backupAges } from "./backups.ts";
import { containerCounts } from "./container_counts.ts";
import { containerStates } from "./container_states.ts";
import { containerStats } from "./container_stats.ts";
import { disks } from "./disks.ts";
import { engineMetrics } from "./engine.ts";
import { fleetMetrics } from "./fleet.ts";
import { hostSamples } from "./host_samples.ts";
import type { FastDeps, Metric } from "./kind.ts";
import { networks } from "./networks.ts";
import { pressures } from "./pressures.ts";
import { serviceMetrics } from "./service.ts";
import { swarmMetrics } from "./swarm.ts";
import { temperatures } from "./temperatures.ts";

/** The most important first within each group, as they are offered. */
export const ALERT_METRICS: readonly Metric[] = [
  ...disks,
  ...hostSamples,
  ...pressures,
  ...networks,
  ...temperatures,
  ...containerStates,
  ...containerCounts,
  ...containerStats,
  ...backupAges,
  ...swarmMetrics,
  ...fleetMetrics,
  ...engineMetrics,
  ...serviceMetrics,
];

export const ALERT_METRIC_IDS: readonly string[] = ALERT_METRICS.map(({ id }) => id);

const BY_ID: ReadonlyMap<string, Metric> = new Map(ALERT_METRICS.map((each) => [each.id, each]));

/** @throws For a metric of another version of the service, which cannot have opened this database. */
export function alertMetric(id: string): Metric {
  const found = BY_ID.get(id);
  if (!found) throw new Error(`Unknown alert metric ${id}`);
  return found;
}

/** The current value of a metric that is read in each round; `undefined` while unknown. */
export function metricValue(deps: FastDeps, id: string): number | undefined {
  const found = alertMetric(id);
  return found.target === "host" ? found.read?.(deps).value : undefined;
}
