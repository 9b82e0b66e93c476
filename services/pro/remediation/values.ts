/** The target container of a remediation rule and the current value of its metric. @module */

import { selectServiceStop } from "../../../db/service_stops.ts";
import type { RemediationMetric, RemediationRule } from "../../../db/pro/remediation_rules.ts";
import { metricValue } from "../../alerts/host_sources.ts";
import { readMark } from "../../containers/marks.ts";
import type { Deps } from "../../deps.ts";
import type { Container, Inventory } from "../../containers/inventory.ts";

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

/** A short or full ID; a shorter prefix could later match another container. */
const SHORT_ID = /^[0-9a-f]{12,64}$/;

export type ValueDeps = Pick<Deps, "db" | "host" | "inventory" | "stats" | "now" | "startedAt">;

/**
 * Finds the target of a rule by the given ID or name, or else by the container's last known name,
 * which a recreated container keeps.
 */
export function findTarget(
  inventory: Inventory,
  { action_target: ref, target_name }: Pick<RemediationRule, "action_target" | "target_name">,
): Container | undefined {
  const named = (name: string) => inventory.list().find((container) => container.name === name);
  const exact = inventory.get(ref) ?? named(ref);
  if (exact) return exact;
  const [first, second] = SHORT_ID.test(ref)
    ? inventory.list().filter(({ id }) => id.startsWith(ref))
    : [];
  if (first && !second) return first;
  return target_name === null ? undefined : named(target_name);
}

/**
 * The name that finds the target after it was recreated. It follows a rename of a container that was
 * given by its ID, except the temporary name during a rebuild.
 */
export function lastKnownName(
  { action_target: ref, target_name }: Pick<RemediationRule, "action_target" | "target_name">,
  target: Container | undefined,
): string | null {
  if (!target || readMark(target.name)) return target_name;
  const isGivenById = target.name !== ref && target.id.startsWith(ref);
  return isGivenById ? target.name : target_name ?? target.name;
}

/** Returns the current value of a metric; `undefined` while it is unknown. */
export function conditionValue(
  deps: ValueDeps,
  metric: RemediationMetric,
  target: Container | undefined,
): number | undefined {
  switch (metric) {
    case "container_cpu_percent":
      return target && freshStats(deps, target)?.cpuPercent;
    case "container_memory_percent":
      return target && freshStats(deps, target)?.memoryPercent;
    case "container_unhealthy":
      // The engine keeps the last health of a stopped container.
      return target && Number(target.state === "running" && target.health === "unhealthy");
    case "container_down":
      return target && downValue(deps, target);
    default:
      return metricValue(deps, metric);
  }
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
