/**
 * Decides when an alert rule fires and when it resolves.
 *
 * @module
 */

import {
  type AlertMetric,
  type AlertOperator,
  type AlertProgress,
  type AlertRule,
  selectEnabledAlertRules,
  updateAlertProgress,
} from "../../../db/ce/alert_rules.ts";
import type { Deps } from "../../deps.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { Container } from "../../state/inventory.ts";
import { fireAlert, resolveAlert } from "./events.ts";

/** Shortest time between two firings of a rule (specification), in milliseconds. */
export const COOLDOWN_MS = 15 * 60 * 1000;

/**
 * Longest time between two checks of a pending condition, in milliseconds. After a longer gap (a
 * restart, an unreachable engine) the condition may not have held throughout, so its duration
 * starts again.
 */
export const GAP_MAX_MS = 60_000;

/** How often `seenAt` of a pending rule is updated, in milliseconds. */
const SEEN_EVERY_MS = 15_000;

/** Age at which a host sample is ignored, in milliseconds. The host is sampled every 5 seconds. */
const SAMPLE_AGE_MAX_MS = 30_000;

const COMPARE: Record<AlertOperator, (value: number, threshold: number) => boolean> = {
  ">": (value, threshold) => value > threshold,
  "<": (value, threshold) => value < threshold,
  ">=": (value, threshold) => value >= threshold,
  "<=": (value, threshold) => value <= threshold,
  "==": (value, threshold) => value === threshold,
};

/** The result of evaluating a rule. */
export interface Decision {
  progress: AlertProgress;
  /** The event to emit. */
  transition: "fired" | "resolved" | undefined;
}

/**
 * Evaluates one rule. It fires after its condition has held without a gap for the rule's duration,
 * and resolves as soon as the condition does not hold. During the cooldown it stays pending, and
 * fires afterwards if the condition still holds.
 *
 * @param value `undefined` while unknown: the rule then neither fires nor resolves.
 */
export function evaluateRule(rule: AlertRule, value: number | undefined, now: Date): Decision {
  const { state, pendingSince, seenAt, lastFiredAt } = rule;
  const progress: AlertProgress = { state, pendingSince, seenAt, lastFiredAt };
  if (value === undefined) return { progress, transition: undefined };

  if (!COMPARE[rule.operator](value, rule.threshold)) {
    return {
      progress: { state: "ok", pendingSince: null, seenAt: null, lastFiredAt },
      transition: state === "firing" ? "resolved" : undefined,
    };
  }
  if (state === "firing") return { progress, transition: undefined };

  const at = now.toISOString();
  const since = isUnbroken(rule, now) ? pendingSince! : at;
  const heldMs = now.getTime() - Date.parse(since);
  if (heldMs >= rule.durationSeconds * 1000 && hasCooledDown(rule, now)) {
    return {
      progress: { state: "firing", pendingSince: null, seenAt: null, lastFiredAt: at },
      transition: "fired",
    };
  }
  const isSeen = since === pendingSince && seenAt !== null &&
    now.getTime() - Date.parse(seenAt) < SEEN_EVERY_MS;
  return {
    progress: {
      state: "pending",
      pendingSince: since,
      seenAt: isSeen ? seenAt : at,
      lastFiredAt,
    },
    transition: undefined,
  };
}

/** Whether the condition has been checked without a gap since it began to hold. */
function isUnbroken({ pendingSince, seenAt }: AlertProgress, now: Date): boolean {
  if (pendingSince === null || seenAt === null) return false;
  // After the clock was set back, `pendingSince` is in the future.
  return now.getTime() - Date.parse(seenAt) <= GAP_MAX_MS && now >= new Date(pendingSince);
}

/** A `lastFiredAt` far in the future comes from a clock that was wrong, and is ignored. */
function hasCooledDown({ lastFiredAt }: AlertProgress, now: Date): boolean {
  return lastFiredAt === null || Math.abs(now.getTime() - Date.parse(lastFiredAt)) >= COOLDOWN_MS;
}

type EvaluationDeps = EmitDeps & Pick<Deps, "host" | "inventory">;

/**
 * Evaluates every enabled rule once, except during maintenance. The progress of a rule and its event
 * are stored in one transaction, so that no event is lost or sent twice.
 *
 * @throws The first failure of a rule, after all others have been evaluated.
 */
export function evaluateAlerts(deps: EvaluationDeps): void {
  const { db, now, maintenance } = deps;
  if (maintenance.active) return;
  const failures: unknown[] = [];
  for (const rule of selectEnabledAlertRules(db)) {
    const value = metricValue(deps, rule.metric);
    const containers = rule.metric === "container_stopped" ? stoppedContainers(deps) : undefined;
    const { progress, transition } = evaluateRule(rule, value, now());
    try {
      if (transition === "fired") fireAlert(deps, rule, progress, { value: value!, containers });
      else if (transition === "resolved") {
        resolveAlert(deps, rule, progress, { value: value!, containers });
      } else if (hasChanged(progress, rule)) updateAlertProgress(db, rule.id, progress);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length) throw failures[0];
}

/** The current value of a metric; `undefined` while unknown. */
export function metricValue(
  { host, inventory, now }: Pick<Deps, "host" | "inventory" | "now">,
  metric: AlertMetric,
): number | undefined {
  if (metric === "container_stopped") {
    return inventory.live ? stoppedContainers({ inventory }).length : undefined;
  }
  const sample = host.latest;
  if (!sample) return undefined;
  if (Math.abs(now().getTime() - Date.parse(sample.timestamp)) > SAMPLE_AGE_MAX_MS) {
    return undefined;
  }
  switch (metric) {
    case "cpu_percent":
      return sample.cpuPercent;
    case "memory_percent":
      return sample.memory.percent;
    case "disk_percent":
      return sample.disk.percent;
    case "load_1":
      return sample.load[0];
  }
}

/** Names of the containers that are not running, except finished tasks. */
export function stoppedContainers({ inventory }: Pick<Deps, "inventory">): string[] {
  return inventory.list()
    .filter((container) => container.state !== "running" && !isFinishedTask(container))
    .map(({ name }) => name)
    .sort();
}

/** Whether a container exited with code 0 and has no restart policy. */
function isFinishedTask({ state, exitCode, details }: Container): boolean {
  const { name } = details.restartPolicy;
  return state === "exited" && exitCode === 0 && (name === "no" || name === "");
}

function hasChanged(a: AlertProgress, b: AlertProgress): boolean {
  return a.state !== b.state || a.pendingSince !== b.pendingSince || a.seenAt !== b.seenAt;
}
