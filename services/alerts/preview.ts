/**
 * Tries an alert rule that is not stored on the present values and on the stored samples.
 *
 * @module
 */

import { selectContainerHistory, selectContainerSeries } from "../../db/container_samples.ts";
import { type Resolution, selectMetricHistory } from "../../db/metric_samples.ts";
import type { Deps } from "../deps.ts";
import { LOCAL_HOST } from "../../db/host_id.ts";
import type { Container } from "../containers/inventory.ts";
import { round2 } from "../metrics/window.ts";
import {
  COMPARE,
  type Condition,
  evaluateRule,
  GAP_MAX_MS,
  INITIAL_PROGRESS,
} from "./condition.ts";
import type {
  ContainerMetric,
  HostMetric,
  Metric,
  SourceDeps,
  StackMetric,
} from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";
import { readNow } from "./readings.ts";
import type { AlertRule } from "../../db/alert_rules.ts";
import { completeSettings, type NewAlertRule } from "./settings.ts";
import { measuredText } from "./text.ts";
import { containersOf, stackValues, valueKeyOf } from "./watched_rules.ts";

export interface AlertPreview {
  /** Whether the condition holds, and has held for its duration where samples are stored. */
  wouldFire: boolean;
  /** Of several containers, the one that is furthest beyond the threshold; `null` while unknown. */
  value: number | null;
  /** The value with its unit. */
  valueText: string | null;
  /**
   * Since when the condition holds if only its duration is missing, and when it would fire; of
   * several containers, the first. ISO 8601, UTC.
   */
  since: string | null;
  firesAt: string | null;
  /**
   * Number of times it would have fired in the last 24 hours; `null` where no samples are stored.
   */
  firings24h: number | null;
  /** Names of the containers for which it would fire now. */
  containers: string[];
  /** Why the value is unknown; `null` if it is known. */
  problem: string | null;
}

type PreviewDeps = SourceDeps & Pick<Deps, "log" | "stats">;

/** One stored value. */
interface Point {
  /** Unix seconds. */
  ts: number;
  value: number;
}

const DAY_S = 86_400;

/** Limit of points that are read; with many containers they are further apart. */
const POINTS_MAX = 100_000;

/**
 * Evaluates a rule without storing it.
 *
 * @throws {AppError} `invalid` as for a new rule.
 */
export async function previewAlertRule(
  deps: PreviewDeps,
  settings: NewAlertRule,
): Promise<AlertPreview> {
  const rule = completeSettings(settings);
  const metric = alertMetric(rule.metric);
  if (metric.target === "host") {
    const reading = await readNow(deps, metric, rule);
    const tried = tryOn(deps, rule, reading.value, hostPoints(deps, metric, rule));
    const { isFiring, firings } = tried;
    return {
      wouldFire: isFiring,
      ...describeWait(rule, [tried]),
      ...valueIn(metric, reading.value),
      firings24h: firings,
      containers: [],
      problem: reading.value === undefined ? reading.reason : null,
    };
  }
  if (metric.target === "stacks") return previewOnStacks(deps, metric, rule);
  const containers = containersOf(deps, rule);
  const tried = containers.map((container) => {
    const value = metric.read(deps, container, valueKeyOf(rule));
    const points = containerPoints(deps, metric, container, containers.length);
    return { name: container.name, value, ...tryOn(deps, rule, value, points) };
  });
  const values = tried.flatMap(({ value }) => typeof value === "number" ? [value] : []);
  const isKept = tried.length > 0 && tried.every(({ firings }) => firings !== null);
  const firing = tried.filter(({ isFiring }) => isFiring);
  return {
    wouldFire: firing.length > 0,
    ...describeWait(rule, firing.length > 0 ? [] : tried),
    ...valueIn(metric, values.length === 0 ? undefined : furthest(rule, values)),
    firings24h: isKept ? tried.reduce((sum, { firings }) => sum + firings!, 0) : null,
    containers: firing.map(({ name }) => name),
    problem: values.length > 0 ? null : containerProblem(deps, containers),
  };
}

/** No samples of stacks are stored. */
function previewOnStacks(
  deps: PreviewDeps,
  metric: StackMetric,
  rule: NewAlertRule & Pick<AlertRule, "scope">,
): AlertPreview {
  const values = [...stackValues(deps, metric, rule).values()];
  return {
    wouldFire: values.some((value) => tryOn(deps, rule, value, undefined).isFiring),
    ...describeWait(rule, []),
    ...valueIn(metric, values.length === 0 ? undefined : furthest(rule, values)),
    firings24h: null,
    containers: [],
    problem: values.length > 0
      ? null
      : deps.inventory.live
      ? "No stack in the scope has a value"
      : "The engine is unreachable",
  };
}

function valueIn(
  metric: Metric,
  known: number | undefined,
): Pick<AlertPreview, "value" | "valueText"> {
  if (known === undefined) return { value: null, valueText: null };
  const value = round2(known);
  return { value, valueText: measuredText(metric, value) };
}

function containerProblem(
  { inventory }: Pick<Deps, "inventory">,
  containers: readonly Container[],
): string {
  if (!inventory.live) return "The engine is unreachable";
  return containers.length === 0
    ? "No container matches the scope"
    : "The containers are measured when the rule exists, or do not run";
}

/** Start of the wait for the duration, and the time at which the rule would fire. */
function describeWait(
  { durationSeconds }: Condition,
  tried: readonly Pick<Trial, "since">[],
): Pick<AlertPreview, "since" | "firesAt"> {
  const since = tried.flatMap(({ since }) => since ?? []).sort()[0];
  if (since === undefined) return { since: null, firesAt: null };
  const firesAt = new Date(Date.parse(since) + durationSeconds * 1000).toISOString();
  return { since, firesAt };
}

/** A rule on the samples of the host or of a container. */
interface Trial {
  isFiring: boolean;
  /** Since when the condition holds if only its duration is missing. */
  since: string | null;
  firings: number | null;
}

/** @param points Oldest first; `undefined` if none are stored. */
function tryOn(
  { now }: Pick<Deps, "now">,
  rule: Condition,
  value: number | null | undefined,
  points: readonly Point[] | undefined,
): Trial {
  const holds = typeof value === "number" && COMPARE[rule.operator](value, rule.threshold);
  if (!points) return { isFiring: holds, since: null, firings: null };
  const steps = points.map(({ ts }, i) => ts - (points[i - 1]?.ts ?? ts));
  const gapMaxMs = Math.max(GAP_MAX_MS, 2_000 * median(steps));
  let progress = INITIAL_PROGRESS;
  let firings = 0;
  const step = (value: number | null | undefined, at: Date) => {
    const decision = evaluateRule(rule, progress, value, at, { gapMaxMs });
    progress = decision.progress;
    if (decision.transition === "fired") firings++;
  };
  for (const { ts, value } of points) step(value, new Date(ts * 1000));
  const stored = firings;
  step(value, now());
  // The cooldown after an earlier firing does not make the condition better.
  const heldMs = progress.pendingSince === null
    ? 0
    : now().getTime() - Date.parse(progress.pendingSince);
  const isFiring = holds &&
    (progress.state === "firing" || heldMs >= rule.durationSeconds * 1000);
  const since = holds && !isFiring ? progress.pendingSince : null;
  return { isFiring, since, firings: stored };
}

function hostPoints(
  { metrics, now }: Pick<Deps, "metrics" | "now">,
  { sampled }: HostMetric,
  { path }: Pick<NewAlertRule, "path">,
): Point[] | undefined {
  if (!sampled || path) return undefined;
  const range = { hostId: LOCAL_HOST, ...lastDay(now(), 15) };
  return selectMetricHistory(metrics, range).map((point) => ({
    ts: point.ts,
    value: sampled(point),
  }));
}

function containerPoints(
  { metrics, now, stats }: Pick<Deps, "metrics" | "now" | "stats">,
  metric: ContainerMetric,
  { id, name }: Container,
  count: number,
): Point[] | undefined {
  const value = metric.sampled?.(stats.last(id)?.memoryLimit);
  if (!value) return undefined;
  const series = selectContainerSeries(metrics, { hostId: LOCAL_HOST, name });
  if (series === undefined) return [];
  const resolution = count * DAY_S / 60 <= POINTS_MAX ? 60 : 900;
  return selectContainerHistory(metrics, { series, ...lastDay(now(), resolution) })
    .flatMap((point) => {
      const known = value(point);
      return known === undefined ? [] : { ts: point.ts, value: known };
    });
}

function lastDay(now: Date, resolution: Resolution) {
  const to = Math.floor(now.getTime() / 1000);
  return { from: to - DAY_S, to, step: resolution, resolution };
}

const furthest = ({ operator }: Condition, values: readonly number[]): number =>
  operator.startsWith("<") ? Math.min(...values) : Math.max(...values);

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
