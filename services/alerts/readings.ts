/** The values that alert rules are compared with. @module */

import type { AlertRule } from "../../db/alert_rules.ts";
import { withDeadline } from "../deadline.ts";
import type { Deps } from "../deps.ts";
import { errorFields } from "../log.ts";
import type { Reading } from "./memory.ts";
import type { HostMetric, SourceDeps } from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";
import { valueKeyOf, watchedRules } from "./watched_rules.ts";

/** Number of intervals for which an old value is used if it cannot be read again. */
const INTERVALS_MAX = 3;

/** Longest time that a round or a request waits for slow sources, in milliseconds. */
const WAIT_MS = 2_000;

type Measured = Pick<AlertRule, "metric" | "path" | "pattern" | "windowSeconds">;

/** The last known value of the host, the engine or the service. */
export function hostReading(deps: SourceDeps, metric: HostMetric, rule: Measured): Reading {
  const slow = slowSource(rule);
  if (!slow) return metric.read!(deps);
  const last = deps.alerts.readings.get(valueKeyOf(rule));
  if (!last) return { reason: "It has not been measured yet" };
  const age = Math.abs(deps.now().getTime() - last.at);
  // A round is up to five seconds late.
  return age <= INTERVALS_MAX * slow.everyMs + WAIT_MS
    ? last.reading
    : { reason: "It cannot be measured at the moment" };
}

/**
 * Reads the slow sources that enabled rules need and that are due. A source that does not answer (a
 * network file system) delays the round by two seconds once, and no other source.
 */
export async function refreshReadings(deps: SourceDeps & Pick<Deps, "log">): Promise<void> {
  const { alerts } = deps;
  const needed = new Map(
    watchedRules(deps).filter(({ rule }) => slowSource(rule))
      .map(({ rule, valueKey }) => [valueKey, rule]),
  );
  for (const key of alerts.readings.keys()) if (!needed.has(key)) alerts.readings.delete(key);
  const at = deps.now().getTime();
  const due = [...needed].filter(([key, rule]) => {
    const last = alerts.readings.get(key);
    return !alerts.reading.has(key) &&
      (!last || Math.abs(at - last.at) >= slowSource(rule)!.everyMs);
  });
  if (due.length === 0) return;
  await withDeadline(Promise.all(due.map(([key, rule]) => readSlow(deps, key, rule))), WAIT_MS);
}

/** Reads the current value at once, for a rule that may not be stored. */
export async function readNow(
  deps: SourceDeps & Pick<Deps, "log">,
  metric: HostMetric,
  rule: Measured,
): Promise<Reading> {
  const key = valueKeyOf(rule);
  const { reading, readings } = deps.alerts;
  if (slowSource(rule) && !readings.has(key) && !reading.has(key)) {
    await withDeadline(readSlow(deps, key, rule), WAIT_MS);
  }
  return hostReading(deps, metric, rule);
}

async function readSlow(
  deps: SourceDeps & Pick<Deps, "log">,
  key: string,
  rule: Measured,
): Promise<void> {
  const { alerts, log, now } = deps;
  alerts.reading.add(key);
  try {
    const reading = await slowSource(rule)!.read(deps, rule);
    alerts.readings.set(key, { reading, at: now().getTime() });
  } catch (error) {
    log.error("reading an alert metric failed", { metric: rule.metric, ...errorFields(error) });
  } finally {
    alerts.reading.delete(key);
  }
}

/** The source of a value that is read between the rounds. */
function slowSource({ metric, path }: Measured): HostMetric["slow"] {
  const found = alertMetric(metric);
  if (found.target !== "host") return undefined;
  return path !== null || !found.read ? found.slow : undefined;
}
