/** Counts the restarts of containers, and how often they run out of memory. @module */

import type { Deps } from "../deps.ts";
import type { Container } from "../containers/inventory.ts";
import type {
  ContainerCounts,
  Occurrence,
  Occurrences,
  WatchedRule,
  WindowCount,
} from "./memory.ts";
import { alertMetric } from "./metrics/mod.ts";
import { createWindowCount } from "./window_count.ts";

/** Two reports of one lack of memory may be this far apart, in milliseconds. */
const OOM_ECHO_MS = 10_000;

/** Limit of what is kept of a container for rules that are created later. */
const OCCURRENCES_MAX = 100;

/** Updates what is known of every container since the last round, for the rules that count it. */
export function observeContainers(
  { alerts, now }: Pick<Deps, "alerts" | "now">,
  containers: readonly Container[],
  rules: readonly WatchedRule[],
): void {
  const context = {
    at: now().getTime(),
    countedFrom: alerts.countedFrom,
    ...collectWindows(rules),
  };
  alerts.counts = new Map(containers.map((each) => [
    each.id,
    countContainer(alerts.counts.get(each.id), each, context),
  ]));
}

/** Records that the engine reported a lack of memory. */
export function recordOom({ alerts, now }: Pick<Deps, "alerts" | "now">, id: string): void {
  const at = now();
  const known = alerts.counts.get(id);
  if (!known) return;
  known.oomAt = at.toISOString();
  const oom = { at: at.getTime(), since: at.getTime(), count: 1 };
  known.ooms = { ...known.ooms, recent: withLatest(known.ooms.recent, oom) };
  for (const count of known.ooms.counts.values()) count.add(oom.at);
}

/** The windows in which occurrences are counted, in seconds, by the key of the values. */
type Windows = Record<Occurrences, Map<string, number>>;

function collectWindows(rules: readonly WatchedRule[]): Windows {
  const windows: Windows = { restarts: new Map(), ooms: new Map() };
  for (const { rule, valueKey } of rules) {
    const metric = alertMetric(rule.metric);
    if (metric.target !== "containers" || !metric.counts) continue;
    windows[metric.counts].set(valueKey, rule.windowSeconds ?? 0);
  }
  return windows;
}

/** Knowledge of a round besides the container. Unix milliseconds. */
type CountContext = Windows & { at: number; countedFrom: number };

function countContainer(
  before: ContainerCounts | undefined,
  container: Container,
  { restarts, ooms, ...context }: CountContext,
): ContainerCounts {
  const { restartCount, startedAt, finishedAt, details } = container;
  const { at } = context;
  const oomAt = details.oomKilled ? finishedAt : null;
  const isNewOom = isLaterOom(oomAt, before?.oomAt ?? null);
  const restarted = before ? restartsSince(before, container, at) : earlierRestarts(container);
  const oom = oomAt !== null && isNewOom
    ? { at: before ? at : Date.parse(oomAt), since: Date.parse(oomAt), count: 1 }
    : undefined;
  return {
    restartCount,
    startedAt,
    oomAt: before === undefined || isNewOom ? oomAt : before.oomAt,
    restarts: count(before?.restarts, restarted, restarts, context),
    ooms: count(before?.ooms, oom, ooms, context),
  };
}

/** Adds an occurrence of this round to the windows. */
function count(
  before: ContainerCounts[Occurrences] | undefined,
  occurrence: Occurrence | undefined,
  windows: ReadonlyMap<string, number>,
  { at, countedFrom }: Pick<CountContext, "at" | "countedFrom">,
): ContainerCounts[Occurrences] {
  const latest = occurrence && occurrence.at >= countedFrom ? [occurrence] : [];
  const recent = latest.reduce(withLatest, before?.recent ?? []);
  const counts = new Map<string, WindowCount>();
  for (const [key, windowSeconds] of windows) {
    const known = before?.counts.get(key);
    const window = known ?? createWindowCount(windowSeconds);
    const from = Math.max(countedFrom, at - windowSeconds * 1000);
    for (const each of known ? latest : recent) addWithin(window, each, from);
    counts.set(key, window);
  }
  return { recent, counts };
}

/** Of several occurrences, only the last one is known to be within the window. */
function addWithin(window: WindowCount, { at, since, count }: Occurrence, from: number): void {
  if (at >= from) window.add(at, since >= from ? count : 1);
}

const withLatest = (known: readonly Occurrence[], latest: Occurrence): readonly Occurrence[] =>
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
