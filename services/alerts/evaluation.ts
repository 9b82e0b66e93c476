/** Evaluates the alert rules, each for the host or for every container in its scope. @module */

import { type AlertProgress, replaceAlertProgress } from "../../db/alert_progress.ts";
import type { AlertRule } from "../../db/alert_rules.ts";
import { upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import type { EmitDeps } from "../events/emit.ts";
import type { Container } from "../containers/inventory.ts";
import type { WatchedRule } from "./memory.ts";
import {
  type ConditionState,
  type Effect,
  INITIAL_PROGRESS,
  INITIAL_STATE,
  type Input,
  isIdle,
  next,
  SEEN_EVERY_MS,
} from "./condition.ts";
import { type AlertSubject, fireAlert, reportMissingData, resolveAlert } from "./events.ts";
import type {
  ContainerMetric,
  ContainerValue,
  HostMetric,
  SourceDeps,
  StackMetric,
} from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";
import { observeContainers } from "./occurrences.ts";
import { hostReading } from "./readings.ts";
import { EVALUATED_AT, stackValues, watchedContainers, watchedRules } from "./watched_rules.ts";

/** The progress of a rule as a whole has this name. */
const WHOLE = "";

type EvaluationDeps = EmitDeps & SourceDeps & Pick<Deps, "changes" | "stats">;

/** Subject of an event, with the reason why its value is unknown or cannot exist. */
type Described = AlertSubject & { reason: string };

/**
 * Evaluates every enabled rule once. During maintenance, a rule neither fires nor resolves. The
 * progress of a rule and its event are stored in one transaction, so that no event is lost or sent
 * twice.
 *
 * @throws The first failure of a rule, after all others have been evaluated.
 */
export function evaluateAlerts(deps: EvaluationDeps): void {
  const rules = watchedRules(deps);
  if (deps.maintenance.active) forgetCounts(deps);
  else if (deps.inventory.live) observeContainers(deps, deps.inventory.list(), rules);
  const round = createRound(deps);
  const failures: unknown[] = [];
  for (const watched of rules) {
    try {
      const metric = alertMetric(watched.rule.metric);
      if (metric.target === "containers") round.evaluateContainers(watched, metric);
      else if (metric.target === "stacks") round.evaluateStacks(watched, metric);
      else round.evaluateHost(watched, metric);
    } catch (error) {
      failures.push(error);
    }
  }
  round.store();
  if (failures.length) throw failures[0];
}

/** Forgets the occurrences during maintenance, which are not counted afterwards. */
function forgetCounts({ alerts, now }: Pick<Deps, "alerts" | "now">): void {
  alerts.counts.clear();
  alerts.countedFrom = now().getTime();
  for (const watch of alerts.logs.values()) watch.patterns = [];
}

function createRound(deps: EvaluationDeps) {
  const { alerts, changes, db, inventory, maintenance } = deps;
  const now = deps.now();
  const containers = inventory.live ? inventory.list() : [];
  const values = new Map<string, readonly ContainerValue[]>();
  /** By the position of the container. */
  const paused: boolean[] = [];
  /** States without an event, which are stored at the end. */
  const changed: { watched: WatchedRule; name: string; state: ConditionState }[] = [];
  let hasPending = false;

  return {
    evaluateHost(watched: WatchedRule, metric: HostMetric): void {
      const reading = hostReading(deps, metric, watched.rule);
      const { value } = reading;
      step(watched, WHOLE, { type: "value", value, isPaused: maintenance.active }, () => ({
        containers: metric.counted?.(deps),
        ...(reading.value === undefined
          ? { reason: reading.reason }
          : { reason: "", about: reading.about, hosts: reading.hosts }),
      }));
    },

    evaluateContainers(watched: WatchedRule, metric: ContainerMetric): void {
      const { active } = maintenance;
      // Without the engine all containers are unknown, which is one message.
      const whole = inventory.live ? null : undefined;
      step(watched, WHOLE, { type: "value", value: whole, isPaused: active }, () => ({
        reason: "The engine is unreachable",
      }));
      if (!inventory.live) {
        for (const name of watched.progress.keys()) if (name !== WHOLE) skip(watched, name);
        return;
      }
      const { positions, names } = watchedContainers(deps, watched);
      const current = readValues(watched, metric);
      for (const position of positions) {
        const container = containers[position]!;
        const { id, name } = container;
        const value = current[position];
        const isKnown = watched.progress.has(name) || watched.unknownSince.has(name);
        // Most containers are well.
        if (!isKnown && isIdle(watched.rule, value)) continue;
        if (alerts.renaming.has(id)) skip(watched, name);
        else {
          const isPaused = paused[position] ??= maintenance.includes(container);
          step(watched, name, { type: "value", value, isPaused }, () => ({
            container,
            note: metric.note?.(deps, container, watched.valueKey),
            reason: value === null
              ? `${name} is not running`
              : missingReason(deps, metric, container),
          }));
        }
      }
      for (const name of new Set([...watched.progress.keys(), ...watched.unknownSince.keys()])) {
        if (name === WHOLE || names.has(name)) continue;
        step(watched, name, { type: "gone", isPaused: active }, () => ({
          reason: `${name} was removed or left the scope of the rule`,
        }));
      }
    },

    evaluateStacks(watched: WatchedRule, metric: StackMetric): void {
      const isPaused = maintenance.active;
      const current = stackValues(deps, metric, watched.rule);
      for (const name of new Set([...current.keys(), ...watched.progress.keys()])) {
        const value = current.get(name);
        if (!inventory.live) skip(watched, name);
        else {
          const input: Input = value === undefined
            ? { type: "gone", isPaused }
            : { type: "value", value, isPaused };
          step(watched, name, input, () => ({
            isStack: true,
            reason: `Stack ${name} was removed or left the scope of the rule`,
          }));
        }
      }
    },

    /** Stores the states without events in one transaction. */
    store(): void {
      const at = now.getTime();
      const isDue = hasPending && Math.abs(at - alerts.evaluatedStoredAt) >= SEEN_EVERY_MS;
      if (changed.length > 0 || isDue) {
        db.transaction(() => {
          for (const { watched: { rule }, name, state: { isUnseen, progress } } of changed) {
            const seenAt = isUnseen ? progress.seenAt : null;
            replaceAlertProgress(db, { ...progress, ruleId: rule.id, container: name, seenAt });
          }
          if (hasPending) upsertSetting(db, EVALUATED_AT, now.toISOString());
        });
        if (changed.length > 0) changes.record("/api/alerts/rules");
        if (hasPending) alerts.evaluatedStoredAt = at;
        for (const { watched, name, state } of changed) remember(watched, name, state);
      }
      alerts.evaluatedAt = now.toISOString();
    },
  };

  function readValues(
    { valueKey }: WatchedRule,
    metric: ContainerMetric,
  ): readonly ContainerValue[] {
    const known = values.get(valueKey);
    if (known) return known;
    const current = containers.map((container) => metric.read(deps, container, valueKey));
    values.set(valueKey, current);
    return current;
  }

  function skip(watched: WatchedRule, name: string): void {
    step(watched, name, { type: "skipped" }, () => ({ reason: "" }));
  }

  /** Takes one condition to its next state. @param describe Called if there is an event. */
  function step(watched: WatchedRule, name: string, input: Input, describe: () => Described): void {
    const before = recallState(watched, name);
    const { state, effects } = next(watched.rule, before, input, now);
    hasPending ||= state.progress.state === "pending" && !state.isUnseen;
    if (state === before) return;
    const [effect] = effects;
    if (effect === "store") return void changed.push({ watched, name, state });
    if (effect === undefined) return remember(watched, name, state);
    const value = input.type === "value" ? input.value ?? null : null;
    const change = { before: before.progress, after: state.progress };
    const progress = emitEvent(deps, watched.rule, effect, change, { ...describe(), name, value });
    remember(watched, name, { ...state, progress });
  }
}

/** Why a value of a container is unknown. */
const missingReason = (deps: EvaluationDeps, metric: ContainerMetric, container: Container) =>
  metric.missing?.(deps, container) ??
    `${container.name} was not measured in the last 45 seconds`;

/** Emits an event and stores its progress in one transaction. @returns The progress as stored. */
function emitEvent(
  deps: EmitDeps,
  rule: AlertRule,
  effect: Exclude<Effect, "store">,
  { before, after }: { before: AlertProgress; after: AlertProgress },
  { value, ...subject }: Described & { value: number | null },
): AlertProgress {
  switch (effect) {
    case "fired":
      return { ...after, alertId: fireAlert(deps, rule, after, { ...subject, value: value! }) };
    case "resolved":
      resolveAlert(deps, rule, { before, after }, value === null ? subject : { ...subject, value });
      return after;
    case "no_data":
      reportMissingData(deps, rule, after, subject);
      return after;
  }
}

/** The state of the rule for a container. */
function recallState(
  { progress, unknownSince, unseen }: WatchedRule,
  name: string,
): ConditionState {
  const known = progress.get(name);
  const since = unknownSince.get(name);
  if (known === undefined && since === undefined) return INITIAL_STATE;
  return { progress: known ?? INITIAL_PROGRESS, unknownSince: since, isUnseen: unseen.has(name) };
}

function remember(
  watched: WatchedRule,
  name: string,
  { progress, unknownSince, isUnseen }: ConditionState,
): void {
  if (progress === INITIAL_PROGRESS) watched.progress.delete(name);
  else watched.progress.set(name, progress);
  if (unknownSince === undefined) watched.unknownSince.delete(name);
  else watched.unknownSince.set(name, unknownSince);
  if (isUnseen) watched.unseen.add(name);
  else watched.unseen.delete(name);
}
