/** Sources of the values of containers. @module */

import type { AlertMetric, AlertRule } from "../../db/alert_rules.ts";
import type { ContainerRates } from "../../db/container_samples.ts";
import type { Deps } from "../deps.ts";
import type { ContainerCounts, Occurrence, WindowCount } from "./memory.ts";
import type { Container } from "../containers/inventory.ts";
import type { ContainerStats } from "../containers/stats_cache.ts";
import { isUp } from "../containers/reads.ts";
import { isStopped } from "./host_sources.ts";
import { createWindowCount } from "./window_count.ts";

export type ContainerDeps = Pick<Deps, "alerts" | "now" | "stats">;

/** `undefined` while unknown; `null` if the container cannot have one, e.g. because it is stopped. */
export type ContainerValue = number | null | undefined;

/** Two reports of one lack of memory may be this far apart, in milliseconds. */
const OOM_ECHO_MS = 10_000;

/** Limit of what is kept of a container for rules that are created later. */
const OCCURRENCES_MAX = 100;

type Source = (deps: ContainerDeps, container: Container, rule: Counting) => ContainerValue;

/** Key that distinguishes the values of rules with the same metric. */
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

/** Observations of each round that the engine does not count. */
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
  for (const container of containers) {
    const before = alerts.counts.get(container.id);
    const context = { restarts, ooms, at, countedFrom: alerts.countedFrom };
    counts.set(container.id, countContainer(before, container, context));
  }
  alerts.counts = counts;
}

/** Records that the engine reported a lack of memory. */
export function recordOom({ alerts, now }: Pick<Deps, "alerts" | "now">, id: string): void {
  const at = now();
  const known = alerts.counts.get(id);
  if (!known) return;
  known.oomAt = at.toISOString();
  const oom = { at: at.getTime(), since: at.getTime(), count: 1 };
  known.ooms = withLatest(known.ooms, oom);
  for (const [key, count] of known.counts) {
    if (key.startsWith("container_oom")) count.add(oom.at);
  }
}

/** Knowledge of a round besides the container. */
type CountContext = Observed & { at: number; countedFrom: number };

function countContainer(
  before: ContainerCounts | undefined,
  container: Container,
  { restarts: restartWindows, ooms: oomWindows, at, countedFrom }: CountContext,
): ContainerCounts {
  const { restartCount, startedAt, finishedAt, details } = container;
  const oomAt = details.oomKilled ? finishedAt : null;
  const isNewOom = isLaterOom(oomAt, before?.oomAt ?? null);
  const restarted = before ? restartsSince(before, container, at) : earlierRestarts(container);
  const oom = oomAt !== null && isNewOom
    ? { at: before ? at : Date.parse(oomAt), since: Date.parse(oomAt), count: 1 }
    : undefined;
  const isCounted = (each: Occurrence | undefined) => each !== undefined && each.at >= countedFrom;
  const next: ContainerCounts = {
    restartCount,
    startedAt,
    oomAt: before === undefined || isNewOom ? oomAt : before.oomAt,
    restarts: isCounted(restarted)
      ? withLatest(before?.restarts, restarted!)
      : before?.restarts ?? [],
    ooms: isCounted(oom) ? withLatest(before?.ooms, oom!) : before?.ooms ?? [],
    counts: new Map(),
  };
  for (
    const [windows, all, latest] of [
      [restartWindows, next.restarts, restarted],
      [oomWindows, next.ooms, oom],
    ] as const
  ) {
    for (const [key, windowSeconds] of windows) {
      const known = before?.counts.get(key);
      const count = known ?? createWindowCount(windowSeconds);
      const added = known ? (isCounted(latest) ? [latest!] : []) : all;
      const from = Math.max(countedFrom, at - windowSeconds * 1000);
      for (const occurrence of added) addWithin(count, occurrence, from);
      next.counts.set(key, count);
    }
  }
  return next;
}

/** Of several occurrences, only the last one is known to be within the window. */
function addWithin(window: WindowCount, { at, since, count }: Occurrence, from: number): void {
  if (at >= from) window.add(at, since >= from ? count : 1);
}

const withLatest = (known: readonly Occurrence[] = [], latest: Occurrence) =>
  [...known, latest].slice(-OCCURRENCES_MAX);

/** The engine counts its own restarts; a start by a user sets that number to 0. */
function restartsSince(
  before: Pick<ContainerCounts, "restartCount" | "startedAt">,
  { restartCount, startedAt }: Pick<Container, "restartCount" | "startedAt">,
  at: number,
): Occurrence | undefined {
  if (startedAt === null || before.startedAt === null || startedAt === before.startedAt) {
    return undefined;
  }
  // All of them were since the last round.
  return { at, since: at, count: Math.max(1, restartCount - before.restartCount) };
}

/** The restarts before a container was first observed: the last one was at its start. */
function earlierRestarts(
  { restartCount, startedAt, createdAt }: Container,
): Occurrence | undefined {
  if (startedAt === null || restartCount === 0) return undefined;
  const since = createdAt === null ? -Infinity : Date.parse(createdAt);
  return { at: Date.parse(startedAt), since, count: restartCount };
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
