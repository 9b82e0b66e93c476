/**
 * What the condition of a remediation rule looks at: which container it is about, and what its
 * metric is now.
 *
 * @module
 */

import { selectServiceStop } from "../../../db/ce/service_stops.ts";
import type { RemediationMetric, RemediationRule } from "../../../db/pro/remediation_rules.ts";
import { metricValue } from "../../ce/alerts/evaluation.ts";
import type { Deps } from "../../deps.ts";
import type { Container, Inventory } from "../../state/inventory.ts";

/**
 * A container that just ended may be about to run again (a restart by somebody at the engine), and
 * whose doing its end was is known a moment later. In milliseconds.
 */
export const DOWN_SETTLES_MS = 2_000;

/** The engine's time of an end may be this much after the one when we heard of it; milliseconds. */
const STOP_MARGIN_MS = 5_000;

/** As the engine shows ids; a shorter beginning may come to fit another container. */
const SHORT_ID = /^[0-9a-f]{12,64}$/;

export type ValueDeps = Pick<Deps, "db" | "host" | "inventory" | "stats" | "now">;

/**
 * The container that a rule is about: by id or name as it was given, else by the name that it had,
 * which is what a recreated container keeps.
 */
export function targetIn(
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

/** What a rule's metric is now; `undefined` while that is not known. */
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
      // The engine leaves the last health on a container that has ended.
      return target && Number(target.state === "running" && target.health === "unhealthy");
    case "container_down":
      return target && downValue(deps, target);
    default:
      return metricValue(deps, metric);
  }
}

/** Leaves out a sample from before the container's last start. */
function freshStats({ stats }: Pick<Deps, "stats">, { id, startedAt }: Container) {
  const sample = stats.get(id);
  if (!sample || startedAt === null) return sample;
  return Date.parse(sample.read) < Date.parse(startedAt) ? undefined : sample;
}

/** Not running after having run, by whatever cause but an action of this service (contract). */
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
  // It may have run and ended again while this service did not.
  const isThatStop = endedAt === undefined || endedAt <= Date.parse(stoppedAt) + STOP_MARGIN_MS;
  return isThatStop ? 0 : 1;
}
