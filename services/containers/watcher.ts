/**
 * The worker that keeps the inventory up to date: lists all containers, then follows the engine's
 * events and reads only containers with events. When the stream is lost, the snapshot is no longer
 * live and everything is listed again.
 *
 * @module
 */

import { deleteServiceStopsExcept } from "../../db/service_stops.ts";
import { EngineUnreachableError, RefusedCallError } from "../../engine/errors.ts";
import { systemPing } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";
import { endCrashLoops, restartQuietTimes } from "./crash_loops.ts";
import { type EventDeps, type EventMemory, openEvents } from "./engine_events.ts";
import { createOutageReporter } from "./engine_outage.ts";
import { removeLeftHelpers } from "./helpers.ts";
import { createLives, type Lives } from "./lives.ts";
import { createMissedCheck } from "./missed.ts";
import { isUp, listAll, refreshContainer } from "./reads.ts";
import { findOwnContainer } from "./self_search.ts";
import { describeUnlisted, isUnreadable, logWarnings } from "./unreadable.ts";

/** Pause before reconnecting to the engine, in milliseconds. */
const RETRY_MS = 500;

/** Pause before the containers are listed again after they could not be, in milliseconds. */
const UNLISTED_RETRY_MS = 2_000;

/** Interval between pings in milliseconds; a frozen engine does not close the stream. */
const PING_MS = 5_000;

/** Interval between complete lists without a gap, in milliseconds. */
const RELIST_MS = 10 * 60_000;

/** Shortest time between two listings caused by gaps, in milliseconds. */
const GAP_RELIST_MS = 5_000;

type WatchDeps = EventDeps & Pick<Deps, "config" | "server" | "startedAt">;

export const containerWatcher: Worker = {
  name: "container watcher",
  edition: "ce",
  async run(deps, signal, round) {
    let wasConnected = false;
    let isFailing = false;
    const outages = createOutageReporter(deps);
    const memory: EventMemory = { lives: createLives(deps), lastEvent: undefined };
    while (!signal.aborted) {
      let retryMs = RETRY_MS;
      try {
        await follow(deps, memory, signal, () => {
          if (isFailing) {
            deps.log.info(`engine connection ${wasConnected ? "restored" : "established"}`);
          }
          wasConnected = true;
          isFailing = false;
          outages.recordSuccess();
          round();
        });
      } catch (error) {
        memory.lives.lose();
        if (signal.aborted) return;
        const isRefused = error instanceof RefusedCallError;
        const isUnlisted = !isRefused && await isUnreadable(deps.engine, error, signal);
        const message = isUnlisted ? describeUnlisted(error) : messageOf(error);
        deps.inventory.recordFailure(message, { isUnreadable: isUnlisted });
        // A proxy that refuses a call may be corrected while this service runs.
        const isAway = error instanceof EngineUnreachableError || isRefused;
        if (!isAway && !isUnlisted) throw error;
        if (!isFailing) {
          const event = wasConnected ? "engine connection lost" : "engine not reachable, retrying";
          deps.log.warn(isUnlisted ? "containers cannot be listed" : event, { error: message });
        }
        isFailing = true;
        if (isUnlisted) outages.recordUnreadable(message);
        else outages.recordFailure(message);
        // A list that is too large takes the engine and this service a while.
        if (isUnlisted) retryMs = UNLISTED_RETRY_MS;
      }
      await sleep(retryMs, signal);
    }
    memory.lives.lose();
  },
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Follows the engine until the stream ends, the engine stops responding or `signal` aborts.
 *
 * @param round Called whenever the snapshot is known to be correct.
 * @throws {EngineUnreachableError} When the engine is or becomes unreachable.
 */
async function follow(
  deps: WatchDeps,
  memory: EventMemory,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { engine, inventory } = deps;
  const { lives } = memory;
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  try {
    // The filters depend on the kind of engine, which is unknown before the first response.
    if (engine.kind === undefined) await systemPing(engine, { signal: ended });
    // Subscribed before the listing, so that no event is missed between the two.
    const gaps = createGaps();
    const events = await openEvents(deps, memory, { onGap: gaps.report, signal: ended });
    const reading = events.read().finally(() => end.abort());
    try {
      await relist(deps, lives, ended);
      inventory.setLive(true);
      restartQuietTimes(deps);
      round();
      await Promise.all([
        keepFresh(deps, { gaps, lives }, ended, round),
        markOwnContainer(deps, ended),
      ]);
    } finally {
      end.abort();
      await reading;
    }
  } catch (error) {
    if (!ended.aborted || error instanceof EngineUnreachableError) throw error;
  } finally {
    end.abort();
    inventory.setLive(false);
  }
}

async function markOwnContainer(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const isFound = await findOwnContainer(deps, signal);
  if (isFound && deps.self.id !== null) await refreshContainer(deps, deps.self.id, signal);
}

/** Pings the engine, because a frozen one does not close the stream, and lists again periodically. */
async function keepFresh(
  deps: WatchDeps,
  { gaps, lives }: { gaps: Gaps; lives: Lives },
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  let listedAt = deps.now().getTime();
  const missed = createMissedCheck(deps);
  while (!signal.aborted) {
    await gaps.wait(PING_MS, signal);
    if (signal.aborted) return;
    await systemPing(deps.engine, { signal });
    const hasMissed = await missed.check(signal);
    const hasGap = gaps.take() || hasMissed;
    if (hasGap || deps.now().getTime() - listedAt >= RELIST_MS) {
      await relist(deps, lives, signal);
      if (hasMissed) missed.accept();
      listedAt = deps.now().getTime();
    }
    endCrashLoops(deps);
    round();
    // Labels of an image can make every event of its containers too large to read.
    if (hasGap) await sleep(GAP_RELIST_MS, signal);
  }
}

/** Gaps: unreadable events and failed reads, after which everything has to be listed again. */
interface Gaps {
  report(): void;
  /** Waits up to `ms` for the next gap. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether there was a gap since the last call. */
  take(): boolean;
}

function createGaps(): Gaps {
  let next = new AbortController();
  return {
    report: () => next.abort(),
    wait: (ms, signal) => sleep(ms, AbortSignal.any([signal, next.signal])),
    take() {
      const { aborted } = next.signal;
      if (aborted) next = new AbortController();
      return aborted;
    },
  };
}

/** Lists everything and reports what happened to containers without a readable event. */
async function relist(deps: WatchDeps, lives: Lives, signal: AbortSignal): Promise<void> {
  const { db, inventory, log, stats } = deps;
  await removeLeftHelpers(deps, signal);
  const known = inventory.listFollowed();
  const since = lives.now();
  const temporary = inventory.temporary.ids();
  await listAll(deps, signal);
  const containers = inventory.list();
  logWarnings(log, known, containers);
  lives.readListing(containers, since);
  const up = new Set(containers.filter(isUp).map(({ id }) => id));
  for (const { id } of known) if (!up.has(id)) stats.remove(id);
  for (const id of temporary) if (!inventory.get(id)) inventory.temporary.forget(id);
  deleteServiceStopsExcept(db, containers.map(({ id }) => id));
}
