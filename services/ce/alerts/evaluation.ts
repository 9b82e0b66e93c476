/**
 * When an alert rule fires and when it is over.
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

/** A rule that fired does not fire again before this has passed (specification), in milliseconds. */
export const COOLDOWN_MS = 15 * 60 * 1000;

/**
 * A condition that was not looked at for longer (a restart, an engine that was away) counts as
 * interrupted: nobody knows whether it held all the while. In milliseconds.
 */
export const GAP_MAX_MS = 60_000;

/** How often it is written down that a pending condition still holds, in milliseconds. */
const SEEN_EVERY_MS = 15_000;

/** The host is sampled every 5 seconds; an older sample tells nothing of now. In milliseconds. */
const SAMPLE_AGE_MAX_MS = 30_000;

const HOLDS: Record<AlertOperator, (value: number, threshold: number) => boolean> = {
  ">": (value, threshold) => value > threshold,
  "<": (value, threshold) => value < threshold,
  ">=": (value, threshold) => value >= threshold,
  "<=": (value, threshold) => value <= threshold,
  "==": (value, threshold) => value === threshold,
};

/** What a look at a rule comes to. */
export interface Decision {
  progress: AlertProgress;
  /** What is to be told. */
  turn: "fires" | "resolves" | undefined;
}

/**
 * Decides about one rule. The condition has to hold without a break for the rule's duration; it is
 * over as soon as it does not hold. Within the cooldown a rule stays pending, and fires at its end
 * if the condition still holds then.
 *
 * @param value `undefined` while it is not known: that neither fires nor resolves anything.
 */
export function decide(rule: AlertRule, value: number | undefined, now: Date): Decision {
  const { state, pendingSince, seenAt, lastFiredAt } = rule;
  const progress: AlertProgress = { state, pendingSince, seenAt, lastFiredAt };
  if (value === undefined) return { progress, turn: undefined };

  if (!HOLDS[rule.operator](value, rule.threshold)) {
    return {
      progress: { state: "ok", pendingSince: null, seenAt: null, lastFiredAt },
      turn: state === "firing" ? "resolves" : undefined,
    };
  }
  if (state === "firing") return { progress, turn: undefined };

  const at = now.toISOString();
  const since = unbroken(rule, now) ? pendingSince! : at;
  if (now.getTime() - Date.parse(since) >= rule.durationSeconds * 1000 && cooledDown(rule, now)) {
    return {
      progress: { state: "firing", pendingSince: null, seenAt: null, lastFiredAt: at },
      turn: "fires",
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
    turn: undefined,
  };
}

/** Whether the condition was watched closely enough since it began to hold. */
function unbroken({ pendingSince, seenAt }: AlertProgress, now: Date): boolean {
  if (pendingSince === null || seenAt === null) return false;
  // A clock that was set back would have it begin in the future.
  return now.getTime() - Date.parse(seenAt) <= GAP_MAX_MS && now >= new Date(pendingSince);
}

/** A firing that lies far in the future was written by a clock that went wrong. */
function cooledDown({ lastFiredAt }: AlertProgress, now: Date): boolean {
  return lastFiredAt === null || Math.abs(now.getTime() - Date.parse(lastFiredAt)) >= COOLDOWN_MS;
}

type EvaluationDeps = EmitDeps & Pick<Deps, "host" | "inventory">;

/**
 * Looks at every rule once; nothing is decided in maintenance. How far a rule has come is stored
 * together with the event about it, so that it neither gets lost nor is told twice.
 *
 * @throws The first failure of a rule, after all others have been looked at.
 */
export function evaluateAlerts(deps: EvaluationDeps): void {
  const { db, now, maintenance } = deps;
  if (maintenance.active) return;
  const failures: unknown[] = [];
  for (const rule of selectEnabledAlertRules(db)) {
    const value = metricValue(deps, rule.metric);
    const containers = rule.metric === "container_stopped" ? stoppedContainers(deps) : undefined;
    const { progress, turn } = decide(rule, value, now());
    try {
      if (turn === "fires") fireAlert(deps, rule, progress, { value: value!, containers });
      else if (turn === "resolves") {
        resolveAlert(deps, rule, progress, { value: value!, containers });
      } else if (differs(progress, rule)) updateAlertProgress(db, rule.id, progress);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length) throw failures[0];
}

/** What a metric is now; `undefined` while that is not known. */
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

/** Names of the containers that do not run, without finished tasks. */
export function stoppedContainers({ inventory }: Pick<Deps, "inventory">): string[] {
  return inventory.list()
    .filter((container) => container.state !== "running" && !isFinishedTask(container))
    .map(({ name }) => name)
    .sort();
}

/** A container that ended well and is not meant to be started again is not a problem. */
function isFinishedTask({ state, exitCode, details }: Container): boolean {
  const { name } = details.restartPolicy;
  return state === "exited" && exitCode === 0 && (name === "no" || name === "");
}

function differs(a: AlertProgress, b: AlertProgress): boolean {
  return a.state !== b.state || a.pendingSince !== b.pendingSince || a.seenAt !== b.seenAt;
}
