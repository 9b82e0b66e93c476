/**
 * The worker that keeps the inventory up to date: lists all containers, then follows the engine's
 * events and reads only containers with events. When the stream is lost, the snapshot is no longer
 * live and everything is listed again.
 *
 * @module
 */

import { deleteServiceStopsExcept } from "../../../db/ce/service_stops.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { type EngineEvent, systemEvents } from "../../../engine/events.ts";
import { systemPing } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { sleep, type Worker } from "../../lifecycle.ts";
import {
  endCrashLoops,
  recordServiceStop,
  reportExit,
  reportHealthy,
  reportStart,
  restartQuietTimes,
} from "./crash_loops.ts";
import { createOutageReporter } from "./engine_outage.ts";
import { createDownReader, type Down } from "./events.ts";
import { isHelper, removeLeftHelpers } from "./helpers.ts";
import { isUp, listAll, refreshContainer } from "./reads.ts";
import { lastHealthOutput } from "./health_output.ts";
import { recordHealthTime } from "./health_time.ts";
import { withRealExitCode } from "./exit_code.ts";
import { findOwnContainer } from "./self_search.ts";

/** Pause before reconnecting to the engine, in milliseconds. */
const RETRY_MS = 500;

/** How often the engine is pinged, in milliseconds; a frozen engine does not close the stream. */
const PING_MS = 5_000;

/** How often everything is listed again without a gap, in milliseconds. */
const RELIST_MS = 10 * 60_000;

/** Shortest time between two listings caused by unreadable events, in milliseconds. */
const GAP_RELIST_MS = 5_000;

/** Events that do not change the description of a container. */
const IGNORED_EVENTS =
  /^(exec_|top$|attach$|resize$|export$|archive-path$|copy$|commit$|extract-to)/;

type WatchDeps =
  & EmitDeps
  & Pick<
    Deps,
    | "config"
    | "engine"
    | "eventStream"
    | "inventory"
    | "logStreams"
    | "self"
    | "server"
    | "startedAt"
    | "stats"
  >;

export const containerWatcher: Worker = {
  name: "container watcher",
  edition: "ce",
  async run(deps, signal, round) {
    let wasConnected = false;
    let isFailing = false;
    const outages = createOutageReporter(deps);
    while (!signal.aborted) {
      try {
        await follow(deps, signal, () => {
          if (isFailing) {
            deps.log.info(`engine connection ${wasConnected ? "restored" : "established"}`);
          }
          wasConnected = true;
          isFailing = false;
          outages.recordSuccess();
          round();
        });
      } catch (error) {
        if (!signal.aborted && !(error instanceof EngineUnreachableError)) throw error;
        if (signal.aborted) return;
        const { message } = error as Error;
        if (!isFailing) {
          const event = wasConnected ? "engine connection lost" : "engine not reachable, retrying";
          deps.log.warn(event, { error: message });
        }
        isFailing = true;
        outages.recordFailure(message);
      }
      await sleep(RETRY_MS, signal);
    }
  },
};

/**
 * Follows the engine until the stream ends, the engine stops responding or `signal` aborts.
 *
 * @param round Called whenever the snapshot is known to be correct.
 * @throws {EngineUnreachableError} When the engine is or becomes unreachable.
 */
async function follow(deps: WatchDeps, signal: AbortSignal, round: () => void): Promise<void> {
  const { engine, inventory } = deps;
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const downs = createDownReader({
    report: (down, isExpected) => reportDown(deps, down, isExpected),
    takeExpected: inventory.takeExpectedDown,
    stopSignalOf: (id) => inventory.get(id)?.details.stopSignal,
  });
  try {
    // The filters depend on the kind of engine, which is unknown before the first response.
    if (engine.kind === undefined) await systemPing(engine, { signal: ended });
    // Subscribed before the listing, so that no event is missed between the two.
    const gaps = createGaps();
    const events = await systemEvents(engine, {
      filters: filtersFor(engine.kind),
      onOversized: gaps.report,
      signal: ended,
    });
    const consuming = consume(deps, events, downs, ended).finally(() => end.abort());
    try {
      await relist(deps, ended);
      inventory.setLive(true);
      restartQuietTimes(deps);
      round();
      await Promise.all([
        keepFresh(deps, { gaps, downs }, ended, round),
        markOwnContainer(deps, ended),
      ]);
    } finally {
      end.abort();
      await consuming;
    }
  } catch (error) {
    if (!ended.aborted || error instanceof EngineUnreachableError) throw error;
  } finally {
    end.abort();
    inventory.setLive(false);
    downs.close();
  }
}

async function markOwnContainer(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const isFound = await findOwnContainer(deps, signal);
  if (isFound && deps.self.id !== null) await refreshContainer(deps, deps.self.id, signal);
}

/** Podman names events differently and refuses filters with unknown names. */
function filtersFor(kind: "docker" | "podman" | undefined) {
  const type = ["container", "network"];
  if (kind !== "docker") return { type: ["container"] };
  // Without the filter, the exec events of health checks would fill the engine's buffer.
  const event = [
    ...["create", "start", "restart", "pause", "unpause", "update", "rename", "health_status"],
    ...["kill", "oom", "die", "stop", "destroy", "connect", "disconnect"],
  ];
  return { type, event };
}

async function consume(
  deps: WatchDeps,
  events: AsyncIterable<EngineEvent>,
  downs: ReturnType<typeof createDownReader>,
  signal: AbortSignal,
): Promise<void> {
  const refresh = createRefresher(deps, signal);
  const unhealthy = new Set<string>();
  try {
    for await (const raw of events) {
      const event = raw.Type === "container" ? await withRealExitCode(deps, raw, signal) : raw;
      if (event.Type === "network") {
        const id = event.Actor.Attributes?.container;
        if (id) refresh(id);
      } else if (
        event.Type === "container" && !IGNORED_EVENTS.test(event.Action) &&
        !isHelper(event.Actor.Attributes, event.Actor.Attributes?.image)
      ) {
        downs.read(event);
        reportUp(deps, event);
        recordHealthTime(deps, event);
        await reportHealth(deps, event, unhealthy);
        refresh(event.Actor.ID);
      }
    }
    if (!signal.aborted) deps.eventStream.recordBreak("The engine ended the stream");
  } catch (error) {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    deps.eventStream.recordBreak(message);
    deps.log.warn("event stream lost", { error: message });
  }
}

/** Refreshes containers, each one read at a time; events during a read cause another one. */
function createRefresher(deps: WatchDeps, signal: AbortSignal): (id: string) => void {
  const running = new Map<string, { again: boolean }>();

  const run = async (id: string, state: { again: boolean }) => {
    try {
      do {
        state.again = false;
        const { now } = await refreshContainer(deps, id, signal);
        if (!now || !isUp(now)) deps.stats.remove(id);
      } while (state.again && !signal.aborted);
    } catch (error) {
      // An unreachable engine also ends the stream, which is logged there.
      if (!signal.aborted) deps.log.debug("refresh failed", { id, error: String(error) });
    } finally {
      running.delete(id);
    }
  };
  return (id) => {
    const state = running.get(id);
    if (state) return void (state.again = true);
    const started = { again: false };
    running.set(id, started);
    void run(id, started);
  };
}

/** Pings the engine, because a frozen one does not close the stream, and lists again periodically. */
async function keepFresh(
  deps: WatchDeps,
  { gaps, downs }: { gaps: Gaps; downs: ReturnType<typeof createDownReader> },
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  let listedAt = deps.now().getTime();
  while (!signal.aborted) {
    await gaps.wait(PING_MS, signal);
    if (signal.aborted) return;
    await systemPing(deps.engine, { signal });
    downs.settle();
    const hasGap = gaps.take();
    if (hasGap || deps.now().getTime() - listedAt >= RELIST_MS) {
      await relist(deps, signal);
      listedAt = deps.now().getTime();
    }
    endCrashLoops(deps);
    round();
    // Labels of an image can make every event of its containers too large to read.
    if (hasGap) await sleep(GAP_RELIST_MS, signal);
  }
}

/** Gaps in the event stream: unreadable events, after which everything has to be listed again. */
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

/** Lists everything and reports what happened to containers since the snapshot was last live. */
async function relist(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { inventory } = deps;
  await removeLeftHelpers(deps, signal);
  const ran = inventory.listFollowed().filter(({ state }) => state === "running");
  await listAll(deps, signal);
  for (const { health, id, name } of ran) {
    const now = inventory.get(id);
    if (health === "unhealthy" && now?.health === "healthy") {
      reportHealthy(deps, { container: name, id });
    }
    if (now && isUp(now)) continue;
    deps.stats.remove(id);
    const exitCode = now?.exitCode ?? null;
    const reason = exitCode === 137 || now === undefined ? "killed" : "exited";
    const down: Down = { id, container: name, reason, exitCode };
    reportDown(deps, down, inventory.takeExpectedDown(id));
  }
  deleteServiceStopsExcept(deps.db, inventory.list().map(({ id }) => id));
}

/** Stops by this service are recorded instead of emitted, so that they are not taken for failures. */
function reportDown(deps: WatchDeps, down: Down, isExpected: boolean): void {
  if (isExpected) recordServiceStop(deps, down);
  else reportExit(deps, down);
}

function reportUp(deps: WatchDeps, { Action, Actor }: EngineEvent): void {
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? id.slice(0, 12);
  if (Action === "start") {
    reportStart(deps, { container, id });
    deps.logStreams.wake(id);
  }
  if (Action === "oom") emit(deps, "container.oom", { container, id });
}

/** @param unhealthy Ids of the containers that the snapshot may not yet show as unhealthy. */
async function reportHealth(
  deps: WatchDeps,
  { Action, Actor }: EngineEvent,
  unhealthy: Set<string>,
): Promise<void> {
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? id.slice(0, 12);
  if (Action === "health_status: unhealthy") {
    unhealthy.add(id);
    const healthOutput = await lastHealthOutput(deps, id);
    emit(deps, "container.unhealthy", { container, id, healthOutput });
  } else if (Action === "health_status: healthy") {
    const wasUnhealthy = unhealthy.delete(id) || deps.inventory.get(id)?.health === "unhealthy";
    if (wasUnhealthy) reportHealthy(deps, { container, id });
  } else if (Action === "start" || Action === "destroy") {
    unhealthy.delete(id);
  }
}
