/** Metrics of remediation rules: of the host, as alerts have them, and of the target. @module */

import { selectServiceStop } from "../../../db/service_stops.ts";
import type { Metric } from "../../alerts/metrics/kind.ts";
import { alertMetric, metricValue } from "../../alerts/metrics/mod.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";

/**
 * Time for which a container must be stopped before it counts as down, in milliseconds: it may be
 * restarting, and a stop by this service is recorded a moment later.
 */
export const DOWN_SETTLES_MS = 2_000;

/**
 * Delay of the engine's time of the same stop behind that of this service, at most, in
 * milliseconds.
 */
const STOP_MARGIN_MS = 5_000;

export type ValueDeps = Pick<Deps, "db" | "host" | "inventory" | "stats" | "now" | "startedAt">;

type Words = Pick<
  Metric,
  "description" | "operator" | "states" | "threshold" | "title" | "unit" | "words"
>;

export interface RemediationMetric extends Words {
  id: string;
  group: "Container" | "Host";
  /** The current value; `undefined` while it is unknown. */
  read(deps: ValueDeps, target: Container | undefined): number | undefined;
}

/** A metric of the host that alerts have as well. */
const ofHost = (id: string): RemediationMetric => ({
  ...alertMetric(id),
  group: "Host",
  read: (deps) => metricValue(deps, id),
});

/** A metric of the target. */
const ofTarget = (
  id: string,
  words: Words,
  read: (deps: ValueDeps, target: Container) => number | undefined,
): RemediationMetric => ({
  ...words,
  id,
  group: "Container",
  read: (deps, target) => target && read(deps, target),
});

/** In the order in which they are offered. */
export const REMEDIATION_METRICS: readonly RemediationMetric[] = [
  ofTarget("container_down", {
    description: "1 or 0; down means not running after having run, unless this service stopped it",
    words: "down",
    title: "Container is down",
    states: ["is down", "is not down"],
    operator: "==",
    threshold: 1,
  }, downValue),
  ofTarget(
    "container_unhealthy",
    alertMetric("container_unhealthy"),
    // The engine keeps the last health of a stopped container.
    (_, { state, health }) => Number(state === "running" && health === "unhealthy"),
  ),
  ofTarget(
    "container_cpu_percent",
    alertMetric("container_cpu_percent"),
    (deps, target) => freshStats(deps, target)?.cpuPercent,
  ),
  ofTarget(
    "container_memory_percent",
    alertMetric("container_memory_percent"),
    (deps, target) => freshStats(deps, target)?.memoryPercent,
  ),
  ...["container_stopped", "cpu_percent", "memory_percent", "disk_percent", "load_1"].map(ofHost),
];

/** @throws For a metric of another version of the service, which cannot have opened this database. */
export function remediationMetric(id: string): RemediationMetric {
  const found = REMEDIATION_METRICS.find((each) => each.id === id);
  if (!found) throw new Error(`Unknown remediation metric ${id}`);
  return found;
}

/** The last sample, unless it is older than the container's last start. */
function freshStats({ stats }: Pick<Deps, "stats">, { id, startedAt }: Container) {
  const sample = stats.get(id);
  if (!sample || startedAt === null) return sample;
  return Date.parse(sample.read) < Date.parse(startedAt) ? undefined : sample;
}

/** 1 if the container has stopped for any reason other than an action of this service. */
function downValue(
  { db, now }: Pick<Deps, "db" | "now">,
  { id, state, startedAt, finishedAt }: Container,
): number | undefined {
  if (state === "running" || state === "paused" || startedAt === null) return 0;
  if (state === "removing") return undefined;
  const endedAt = finishedAt === null ? undefined : Date.parse(finishedAt);
  if (endedAt !== undefined && Math.abs(now().getTime() - endedAt) < DOWN_SETTLES_MS) {
    return undefined;
  }
  const stoppedAt = selectServiceStop(db, id);
  if (stoppedAt === undefined) return 1;
  // The container may have run and stopped again while this service was down.
  const isThatStop = endedAt === undefined || endedAt <= Date.parse(stoppedAt) + STOP_MARGIN_MS;
  return isThatStop ? 0 : 1;
}
