/**
 * Where the values of containers come from.
 *
 * @module
 */

import type { AlertMetric, AlertRule } from "../../../db/ce/alert_rules.ts";
import type { ContainerRates } from "../../../db/ce/container_samples.ts";
import type { Deps } from "../../deps.ts";
import type { ContainerCounts } from "../../state/alert_memory.ts";
import type { Container } from "../../state/inventory.ts";
import type { ContainerStats } from "../../state/stats_cache.ts";
import { isUp } from "../containers/reads.ts";
import { isStopped } from "./host_sources.ts";
import { createWindowCount } from "./window_count.ts";

export type ContainerDeps = Pick<Deps, "alerts" | "now" | "stats">;

/** `undefined` while unknown; `null` if the container cannot have one, e.g. because it is stopped. */
export type ContainerValue = number | null | undefined;

/** Two reports of one lack of memory may be this far apart, in milliseconds. */
const OOM_ECHO_MS = 10_000;

type Source = (deps: ContainerDeps, container: Container, rule: Counting) => ContainerValue;

/** What distinguishes the values of rules with the same metric. */
type Counting = { valueKey: string };

export const CONTAINER_SOURCES: { [Metric in AlertMetric]?: Source } = {
  container_cpu_percent: ofStats(({ cpuPercent }) => cpuPercent),
  container_memory_percent: ofStats(({ memoryPercent }) => memoryPercent),
  container_memory_bytes: ofStats(({ memoryUsage }) => memoryUsage),
  container_network_bytes_per_second: ({ stats }, container) => {
    if (!isUp(container)) return null;
    const rates = stats.rates(container.id);
    return rates && networkRate(rates);
  },
  container_restarts: countOf,
  container_oom: countOf,
  container_log_matches({ alerts, now }, { id }, { valueKey }) {
    const watch = alerts.logs.get(id);
    if (!watch?.isOpen) return undefined;
    return watch.patterns.find(({ key }) => key === valueKey)?.count.total(now().getTime());
  },
  container_unhealthy: (_, { health }) => Number(health === "unhealthy"),
  container_not_running: (_, container) => Number(isStopped(container)),
};

/** Whether a metric is measured for each container. */
export const isContainerMetric = (metric: AlertMetric): boolean =>
  Object.hasOwn(CONTAINER_SOURCES, metric);

/** Why a value of a container is unknown. */
export function missingReason(
  { alerts, stats }: Pick<Deps, "alerts" | "stats">,
  { metric }: Pick<AlertRule, "metric">,
  { id, name }: Container,
): string {
  if (metric === "container_log_matches") {
    return alerts.logs.get(id)?.error ?? `The log of ${name} is not followed yet`;
  }
  if (metric === "container_network_bytes_per_second" && stats.get(id)) {
    return `${name} has no network of its own, or was measured only once`;
  }
  return `${name} was not measured in the last 45 seconds`;
}

/** What the evaluator observes in each round, because the engine does not count it. */
export interface Observed {
  /** The windows in which restarts and lacks of memory are counted, in seconds, by their key. */
  restarts: ReadonlyMap<string, number>;
  ooms: ReadonlyMap<string, number>;
}

/** Updates what is known of every container since the last round. */
export function observeContainers(
  { alerts, now }: ContainerDeps,
  containers: readonly Container[],
  { restarts, ooms }: Observed,
): void {
  const at = now().getTime();
  const counts = new Map<string, ContainerCounts>();
  if (restarts.size + ooms.size > 0) {
    for (const container of containers) {
      const before = alerts.counts.get(container.id);
      counts.set(container.id, countContainer(before, container, { restarts, ooms, at }));
    }
  }
  alerts.counts = counts;
}

/** Records that the engine reported a lack of memory. */
export function recordOom({ alerts, now }: Pick<Deps, "alerts" | "now">, id: string): void {
  const at = now();
  const known = alerts.counts.get(id);
  if (!known) return;
  known.oomAt = at.toISOString();
  for (const [key, count] of known.counts) {
    if (key.startsWith("container_oom")) count.add(at.getTime());
  }
}

function countContainer(
  before: ContainerCounts | undefined,
  { restartCount, startedAt, finishedAt, details }: Container,
  { restarts, ooms, at }: Pick<Observed, "restarts" | "ooms"> & { at: number },
): ContainerCounts {
  const counts = new Map<string, ReturnType<typeof createWindowCount>>();
  const oomAt = details.oomKilled ? finishedAt : null;
  const restarted = before ? restartsSince(before, { restartCount, startedAt }) : 0;
  for (const [key, windowSeconds] of restarts) {
    const count = before?.counts.get(key) ?? createWindowCount(windowSeconds);
    if (restarted > 0) count.add(at, restarted);
    counts.set(key, count);
  }
  const isNewOom = before !== undefined && isLaterOom(oomAt, before.oomAt);
  for (const [key, windowSeconds] of ooms) {
    const count = before?.counts.get(key) ?? createWindowCount(windowSeconds);
    if (isNewOom) count.add(at);
    counts.set(key, count);
  }
  const lastOom = before === undefined || isNewOom ? oomAt : before.oomAt;
  return { restartCount, startedAt, oomAt: lastOom, counts };
}

/** The engine counts its own restarts; a start by a user sets that number to 0. */
function restartsSince(
  before: Pick<ContainerCounts, "restartCount" | "startedAt">,
  { restartCount, startedAt }: Pick<Container, "restartCount" | "startedAt">,
): number {
  if (startedAt === null || before.startedAt === null || startedAt === before.startedAt) return 0;
  return Math.max(1, restartCount - before.restartCount);
}

/** The end of the run and the event about it are reported separately. */
function isLaterOom(oomAt: string | null, known: string | null): boolean {
  if (oomAt === null) return false;
  return known === null || Date.parse(oomAt) - Date.parse(known) > OOM_ECHO_MS;
}

/** Bytes in both directions; `undefined` while unknown. */
export function networkRate(
  { networkRxPerSecond: received, networkTxPerSecond: sent }: Pick<
    ContainerRates,
    "networkRxPerSecond" | "networkTxPerSecond"
  >,
): number | undefined {
  return received === null || sent === null ? undefined : received + sent;
}

function ofStats(value: (stats: ContainerStats) => number): Source {
  return ({ stats }, container) => {
    if (!isUp(container)) return null;
    const sample = stats.get(container.id);
    return sample && value(sample);
  };
}

function countOf({ alerts, now }: ContainerDeps, { id }: Container, { valueKey }: Counting) {
  return alerts.counts.get(id)?.counts.get(valueKey)?.total(now().getTime());
}
