/**
 * Follows the logs of containers and counts the lines that match the patterns of alert rules. A log
 * that users follow at the same time is read once.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { LogWatch, WatchedRule } from "./memory.ts";
import type { Container } from "../containers/inventory.ts";
import { isUp } from "../containers/reads.ts";
import type { LogStreamRequest } from "../logs/open_streams.ts";
import { parseSince } from "../logs/start_time.ts";
import { compileLinearPattern } from "../input/linear_pattern.ts";
import { watchedContainers, watchedRules } from "./watched_rules.ts";
import { createWindowCount } from "./window_count.ts";

/** Limit of containers. It leaves half of the followed logs to users. */
const WATCHED_MAX = 50;

type WatchDeps = Pick<Deps, "alerts" | "db" | "inventory" | "logStreams" | "now">;

/** Opens the logs that rules need, and closes those that no rule needs any more. */
export async function refreshLogWatches(deps: WatchDeps): Promise<void> {
  const { alerts, inventory } = deps;
  // A watch survives a short loss of the engine.
  if (!inventory.live) return;
  const needed = neededRules(deps);
  const knownRuns = alerts.logRuns;
  alerts.logRuns = watchedRules(deps).some(({ rule }) => rule.pattern !== null)
    ? new Map(inventory.list().map(({ id, startedAt }) => [id, startedAt]))
    : undefined;
  for (const [id, watch] of alerts.logs) {
    if (needed.has(id)) continue;
    watch.close();
    alerts.logs.delete(id);
  }
  const places = inOrder(alerts, needed);
  // A place is free before another container gets it.
  for (const { container } of places.slice(WATCHED_MAX)) alerts.logs.get(container.id)?.close();
  await Promise.all(places.map(async ({ container, rules }, place) => {
    const watch = alerts.logs.get(container.id) ??
      { patterns: [], isOpen: false, error: null, start: "end", closedAt: 0, close() {} };
    alerts.logs.set(container.id, watch);
    watch.start = startOf(watch, container, knownRuns);
    watch.patterns = await compilePatterns(rules, watch);
    if (place >= WATCHED_MAX) {
      watch.error = `The limit of ${WATCHED_MAX} containers whose logs are watched is reached`;
    } else if (!watch.isOpen) await open(deps, container, watch);
  }));
}

/** A container whose log rules need. */
interface Needed {
  container: Container;
  rules: WatchedRule[];
}

/** The rules about the log of each container, the oldest rules first. */
function neededRules(deps: WatchDeps): Map<string, Needed> {
  const needed = new Map<string, Needed>();
  const containers = deps.inventory.list();
  for (const watched of watchedRules(deps)) {
    if (watched.rule.pattern === null) continue;
    for (const position of watchedContainers(deps, watched).positions) {
      const container = containers[position]!;
      const entry = needed.get(container.id) ?? { container, rules: [] };
      entry.rules.push(watched);
      needed.set(container.id, entry);
    }
  }
  return needed;
}

/** Running containers first, then those of the oldest rules, then those that are followed already. */
function inOrder({ logs }: WatchDeps["alerts"], needed: ReadonlyMap<string, Needed>): Needed[] {
  const isOpen = ({ container: { id } }: Needed) => logs.get(id)?.isOpen ?? false;
  const byRule = [...Map.groupBy(needed.values(), ({ rules: [first] }) => first).values()]
    .flatMap((each) => each.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a))));
  return byRule.toSorted((a, b) => Number(mayWrite(b.container)) - Number(mayWrite(a.container)));
}

const mayWrite = (container: Container) => isUp(container) || container.state === "restarting";

/**
 * Position from which a log is followed. Only what a container writes after its rule was first evaluated
 * counts, and after an interruption what follows the last counted line.
 *
 * @param knownRuns The containers of the round before; `undefined` in the first one.
 */
function startOf(
  { start, isOpen }: LogWatch,
  { id, startedAt }: Container,
  knownRuns: ReadonlyMap<string, string | null> | undefined,
): LogWatch["start"] {
  if (isOpen || start !== "end" || !knownRuns) return start;
  if (!knownRuns.has(id)) return "beginning";
  return startedAt !== null && knownRuns.get(id) !== startedAt ? { since: startedAt } : start;
}

/** The counts of known patterns continue. */
async function compilePatterns(
  rules: readonly WatchedRule[],
  { patterns }: LogWatch,
): Promise<LogWatch["patterns"]> {
  const byKey = new Map(rules.map(({ rule, valueKey }) => [valueKey, rule]));
  return await Promise.all([...byKey].map(async ([key, { pattern, windowSeconds }]) => {
    const known = patterns.find((each) => each.key === key);
    if (known) return known;
    const { test } = await compileLinearPattern(pattern ?? "");
    const window = windowSeconds ?? 0;
    const [count, dropped] = [createWindowCount(window), createWindowCount(window)];
    return { key, test, windowSeconds: window, count, dropped };
  }));
}

async function open(deps: WatchDeps, container: Container, watch: LogWatch): Promise<void> {
  const { alerts, logStreams, now } = deps;
  let isWanted = true;
  try {
    const stream = await logStreams.open({
      containers: [container],
      ...rangeOf(watch, container, now().getTime()),
      filter: {
        selects({ message }) {
          for (const { test, count } of watch.patterns) {
            if (test(message)) count.add(now().getTime());
          }
          return false;
        },
        isSlow: true,
      },
      isComplete: true,
      isValid: () => isWanted && alerts.logs.get(container.id) === watch,
    });
    const reader = stream.getReader();
    watch.isOpen = true;
    watch.error = null;
    watch.close = () => {
      // The stream's last frame has the position at which it ended.
      isWanted = false;
      logStreams.endUnauthorized();
    };
    void drain(deps, reader, watch);
  } catch (error) {
    watch.error = `The log of ${container.name} cannot be followed: ${(error as Error).message}`;
  }
}

/** The lines to count. Those that are older than the longest window would count as new ones. */
function rangeOf(
  { start, patterns, closedAt }: LogWatch,
  { createdAt }: Container,
  at: number,
): Pick<LogStreamRequest, "tail" | "since" | "lastEventId"> {
  const range = { tail: undefined, since: undefined, lastEventId: undefined };
  if (start === "end") return { ...range, tail: 0 };
  const oldest = at - 1000 * Math.max(...patterns.map(({ windowSeconds }) => windowSeconds));
  const since = (ms: number) => ({ ...range, since: parseSince(new Date(ms).toISOString()) });
  if (typeof start === "object") {
    if ("cursor" in start) {
      return closedAt < oldest ? since(oldest) : { ...range, lastEventId: start.cursor };
    }
    const startedAt = Date.parse(start.since);
    return startedAt < oldest ? since(oldest) : { ...range, since: parseSince(start.since) };
  }
  return createdAt !== null && Date.parse(createdAt) < oldest ? since(oldest) : range;
}

/** Reads until the log ends: without a reader the stream would be closed. */
async function drain(
  { now }: Pick<WatchDeps, "now">,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watch: LogWatch,
): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const frame = decoder.decode(next.value);
      addDropped(watch, droppedLines(frame), now().getTime());
      const cursor = /^id: (.+)$/m.exec(frame)?.[1];
      if (cursor !== undefined) watch.start = { cursor };
    }
  } catch { /* closed; the next round opens it again */ }
  watch.isOpen = false;
  watch.closedAt = now().getTime();
}

/** Lines that came faster than they could be tested count as matches: an alert too many is better. */
function addDropped({ patterns }: LogWatch, lines: number, at: number): void {
  if (lines === 0) return;
  for (const { count, dropped } of patterns) {
    count.add(at, lines);
    dropped.add(at, lines);
  }
}

/** Number of lines in a frame about a gap. No frame has lines, because the filter selects none. */
const droppedLines = (frame: string): number => Number(/"dropped":(\d+)/.exec(frame)?.[1] ?? 0);

const decoder = new TextDecoder();
