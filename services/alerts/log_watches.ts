/**
 * Follows the logs of containers and counts the lines that match the patterns of alert rules. A log
 * that users follow at the same time is read once.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { LogWatch, WatchedRule } from "./memory.ts";
import type { Container } from "../containers/inventory.ts";
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
  for (const [id, watch] of alerts.logs) {
    if (needed.has(id)) continue;
    watch.close();
    alerts.logs.delete(id);
  }
  await Promise.all([...needed].map(async ([id, { container, rules }], place) => {
    const known = alerts.logs.get(id);
    const watch = known ?? { patterns: [], isOpen: false, error: null, close() {} };
    alerts.logs.set(id, watch);
    watch.patterns = await compilePatterns(rules, watch);
    if (watch.isOpen) return;
    if (place < WATCHED_MAX) await open(deps, container, watch);
    else watch.error = `The limit of ${WATCHED_MAX} containers whose logs are watched is reached`;
  }));
}

/** The rules about the log of each container, the oldest rules first. */
function neededRules(deps: WatchDeps) {
  const needed = new Map<string, { container: Container; rules: WatchedRule[] }>();
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
    return { key, test, count: createWindowCount(window), dropped: createWindowCount(window) };
  }));
}

async function open(deps: WatchDeps, container: Container, watch: LogWatch): Promise<void> {
  const { alerts, logStreams, now } = deps;
  try {
    const stream = await logStreams.open({
      containers: [container],
      tail: 0,
      since: undefined,
      lastEventId: undefined,
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
      isValid: () => alerts.logs.get(container.id) === watch,
    });
    const reader = stream.getReader();
    watch.isOpen = true;
    watch.error = null;
    watch.close = () => void reader.cancel();
    void drain(deps, reader, watch);
  } catch (error) {
    watch.error = `The log of ${container.name} cannot be followed: ${(error as Error).message}`;
  }
}

/** Reads until the log ends: without a reader the stream would be closed. */
async function drain(
  { now }: Pick<WatchDeps, "now">,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watch: LogWatch,
): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      addDropped(watch, droppedLines(next.value), now().getTime());
    }
  } catch { /* closed; the next round opens it again */ }
  watch.isOpen = false;
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
const droppedLines = (frame: Uint8Array): number =>
  Number(/"dropped":(\d+)/.exec(decoder.decode(frame))?.[1] ?? 0);

const decoder = new TextDecoder();
