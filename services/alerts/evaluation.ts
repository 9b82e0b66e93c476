/** Evaluates the alert rules, each for the host or for every container in its scope. @module */

import { type AlertProgress, replaceAlertProgress } from "../../db/alert_progress.ts";
import { upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import type { EmitDeps } from "../events/emit.ts";
import type { WatchedRule } from "./memory.ts";
import {
  COMPARE,
  evaluateRule,
  GAP_MAX_MS,
  hasCooledDown,
  INITIAL_PROGRESS,
  SEEN_EVERY_MS,
} from "./condition.ts";
import {
  CONTAINER_SOURCES,
  type ContainerValue,
  isContainerMetric,
  missingReason,
  observeContainers,
} from "./container_sources.ts";
import { type AlertSubject, fireAlert, reportMissingData, resolveAlert } from "./events.ts";
import { type SourceDeps, stoppedContainers } from "./host_sources.ts";
import { hostReading } from "./readings.ts";
import { EVALUATED_AT, watchedContainers, watchedRules } from "./watched_rules.ts";

/** The progress of a rule as a whole has this name. */
const WHOLE = "";

type EvaluationDeps = EmitDeps & SourceDeps & Pick<Deps, "changes" | "stats">;

/** One value of a rule. */
interface Sample {
  /** The name of the container; {@linkcode WHOLE} for the host. */
  name: string;
  value: ContainerValue;
  /** Called when the state changes. */
  subject(): AlertSubject;
  /** Why the value is unknown, or why there cannot be one. */
  reason(): string;
  /** Whether it is in maintenance. */
  isPaused: boolean;
}

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
  else observe(deps, rules);
  const round = createRound(deps);
  const failures: unknown[] = [];
  for (const watched of rules) {
    try {
      if (isContainerMetric(watched.rule.metric)) round.evaluateContainers(watched);
      else round.evaluateHost(watched);
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

/** Updates what only the evaluator counts. */
function observe(deps: EvaluationDeps, rules: readonly WatchedRule[]): void {
  if (!deps.inventory.live) return;
  const windowsOf = (metric: string) =>
    new Map(
      rules.filter(({ rule }) => rule.metric === metric)
        .map(({ rule, valueKey }) => [valueKey, rule.windowSeconds ?? 0]),
    );
  observeContainers(deps, deps.inventory.list(), {
    restarts: windowsOf("container_restarts"),
    ooms: windowsOf("container_oom"),
  });
}

function createRound(deps: EvaluationDeps) {
  const { alerts, changes, db, inventory, maintenance } = deps;
  const now = deps.now();
  const at = now.getTime();
  const nowText = now.toISOString();
  const ago = (ms: number) => new Date(at - ms).toISOString();
  const seenAfter = ago(SEEN_EVERY_MS);
  const containers = inventory.live ? inventory.list() : [];
  const values = new Map<string, readonly ContainerValue[]>();
  /** By the position of the container. */
  const paused: boolean[] = [];
  /** Progress without an event, which is stored at the end. */
  const changed: { watched: WatchedRule; name: string; progress: AlertProgress }[] = [];
  let hasPending = false;

  return {
    evaluateHost(watched: WatchedRule): void {
      const { rule } = watched;
      const reading = hostReading(deps, rule);
      evaluate(watched, {
        name: WHOLE,
        value: reading.value,
        subject: () => ({
          about: reading.value === undefined ? undefined : reading.about,
          containers: rule.metric === "container_stopped" ? stoppedContainers(deps) : undefined,
        }),
        reason: () => reading.value === undefined ? reading.reason : "",
        isPaused: maintenance.active,
      });
    },

    evaluateContainers(watched: WatchedRule): void {
      // Without the engine all containers are unknown, which is one message.
      evaluate(watched, {
        name: WHOLE,
        value: inventory.live ? null : undefined,
        subject: () => ({}),
        reason: () => "The engine is unreachable",
        isPaused: maintenance.active,
      });
      if (!inventory.live) {
        for (const name of watched.progress.keys()) if (name !== WHOLE) markUnseen(watched, name);
        return;
      }
      const { positions, names } = watchedContainers(deps, watched);
      const current = valuesOf(watched);
      const { progress } = watched;
      const isSkipped = skipper(watched);
      for (const position of positions) {
        const value = current[position];
        const container = containers[position]!;
        const known = progress.size === 0 ? undefined : progress.get(container.name);
        if (isSkipped(known, value)) continue;
        if (alerts.renaming.has(container.id)) {
          markUnseen(watched, container.name);
          continue;
        }
        evaluate(watched, {
          name: container.name,
          value,
          subject: () => ({ container }),
          reason: () =>
            value === null
              ? `${container.name} is not running`
              : missingReason(deps, watched.rule, container),
          isPaused: paused[position] ??= maintenance.includes(container),
        });
      }
      for (const known of [watched.progress, watched.unknownSince]) {
        for (const name of known.keys()) {
          if (name !== WHOLE && !names.has(name)) evaluateAbsent(watched, name);
        }
      }
    },

    /** Stores the progress without events in one transaction. */
    store(): void {
      const isDue = hasPending && Math.abs(at - alerts.evaluatedStoredAt) >= SEEN_EVERY_MS;
      if (changed.length > 0 || isDue) {
        db.transaction(() => {
          for (const { watched: { rule, unseen }, name, progress } of changed) {
            const seenAt = unseen.has(name) ? progress.seenAt : null;
            replaceAlertProgress(db, { ...progress, ruleId: rule.id, container: name, seenAt });
          }
          if (hasPending) upsertSetting(db, EVALUATED_AT, nowText);
        });
        if (changed.length > 0) changes.record("/api/alerts/rules");
        if (hasPending) alerts.evaluatedStoredAt = at;
        for (const { watched, name, progress } of changed) remember(watched, name, progress);
      }
      alerts.evaluatedAt = nowText;
    },
  };

  function valuesOf(watched: WatchedRule): readonly ContainerValue[] {
    const known = values.get(watched.valueKey);
    if (known) return known;
    const source = CONTAINER_SOURCES[watched.rule.metric]!;
    const current = containers.map((container) => source(deps, container, watched));
    values.set(watched.valueKey, current);
    return current;
  }

  /** Most containers are well, or wait for the rule's duration: they need no objects. */
  function skipper({ rule, unknownSince, unseen }: WatchedRule) {
    const { durationSeconds, forMissingDataSeconds, operator, threshold } = rule;
    const compare = COMPARE[operator];
    const areKnown = unknownSince.size + unseen.size === 0;
    const pendingAfter = ago(durationSeconds * 1000);
    return (known: AlertProgress | undefined, value: ContainerValue): boolean => {
      if (known === undefined) {
        if (value === undefined) return forMissingDataSeconds === null;
        return areKnown && (value === null || !compare(value, threshold));
      }
      const { pendingSince, seenAt, state } = known;
      const isWaiting = areKnown && state === "pending" &&
        typeof value === "number" && compare(value, threshold) &&
        // Times of this form have the order of their texts.
        seenAt! > seenAfter && pendingSince! > pendingAfter && pendingSince! <= nowText;
      hasPending ||= isWaiting;
      return isWaiting;
    };
  }

  /** Stores when a pending condition was last seen, because it cannot be evaluated now. */
  function markUnseen(watched: WatchedRule, name: string): void {
    const progress = watched.progress.get(name);
    if (progress?.state !== "pending" || watched.unseen.has(name)) return;
    watched.unseen.add(name);
    changed.push({ watched, name, progress });
  }

  /** A container that is being replaced is back soon. */
  function evaluateAbsent(watched: WatchedRule, name: string): void {
    const { progress, unknownSince } = watched;
    const { state, lastFiredAt } = progress.get(name) ?? INITIAL_PROGRESS;
    if (state === "ok") {
      unknownSince.delete(name);
      // The names of short-lived containers would fill the memory.
      if (hasCooledDown({ lastFiredAt }, now)) progress.delete(name);
      return;
    }
    const since = unknownSince.get(name) ?? at;
    unknownSince.set(name, since);
    if (Math.abs(at - since) < GAP_MAX_MS) return markUnseen(watched, name);
    evaluate(watched, {
      name,
      value: null,
      subject: () => ({ name }),
      reason: () => `${name} was removed or left the scope of the rule`,
      isPaused: maintenance.active,
    });
  }

  function evaluate(
    watched: WatchedRule,
    { name, value, subject, reason, isPaused }: Sample,
  ): void {
    const { rule, progress, unknownSince, unseen } = watched;
    const before = progress.get(name) ?? INITIAL_PROGRESS;
    if (value === undefined) {
      const since = unknownSince.get(name) ?? at;
      unknownSince.set(name, since);
      const isReported = isPaused || before.state === "no_data" ||
        rule.forMissingDataSeconds === null ||
        Math.abs(at - since) < rule.forMissingDataSeconds * 1000;
      if (isReported) return markUnseen(watched, name);
      const missing: AlertProgress = {
        ...before,
        state: "no_data",
        pendingSince: null,
        seenAt: null,
      };
      reportMissingData(deps, rule, missing, { ...subject(), reason: reason(), name });
      unseen.delete(name);
      return remember(watched, name, missing);
    }
    unknownSince.delete(name);
    const wasUnseen = unseen.delete(name);
    const { progress: after, transition } = evaluateRule(rule, before, value, now, {
      isPaused,
    });
    if (transition === "fired") {
      const alertId = fireAlert(deps, rule, after, { ...subject(), name, value: value! });
      remember(watched, name, { ...after, alertId });
    } else if (transition === "resolved") {
      resolveAlert(deps, rule, { before, after }, {
        ...subject(),
        name,
        ...(value === null ? { reason: reason() } : { value }),
      });
      remember(watched, name, after);
    } else if (wasUnseen || hasChanged(before, after)) {
      changed.push({ watched, name, progress: after });
    } else if (after.seenAt !== before.seenAt) remember(watched, name, after);
    hasPending ||= after.state === "pending";
  }
}

function remember(
  { progress }: WatchedRule,
  name: string,
  { state, pendingSince, seenAt, lastFiredAt, alertId }: AlertProgress,
): void {
  progress.set(name, { state, pendingSince, seenAt, lastFiredAt, alertId });
}

function hasChanged(a: AlertProgress, b: AlertProgress): boolean {
  return a.state !== b.state || a.pendingSince !== b.pendingSince;
}
