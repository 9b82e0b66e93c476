/**
 * The worker that keeps the inventory up to date: lists all containers, then follows the engine's
 * events and reads only containers with events. When the stream is lost, the snapshot is no longer
 * live and everything is listed again.
 *
 * @module
 */

import { deleteServiceStopsExcept } from "../../db/service_stops.ts";
import { EngineUnreachableError } from "../../engine/errors.ts";
import { type EngineEvent, systemEvents } from "../../engine/events.ts";
import { systemPing } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import { sleep, type Worker } from "../lifecycle.ts";
import {
  endCrashLoops,
  recordRemoval,
  recordStop,
  reportStart,
  restartQuietTimes,
} from "./crash_loops.ts";
import { createOutageReporter } from "./engine_outage.ts";
import { isHelper, removeLeftHelpers } from "./helpers.ts";
import { createLives, type Lives } from "./lives.ts";
import { isUp, listAll, refreshContainer } from "./reads.ts";
import { lastHealthOutput } from "./health_output.ts";
import { recordHealthTime } from "./health_time.ts";
import { withRealExitCode } from "./exit_code.ts";
import { createRefresher } from "./refresher.ts";
import { findOwnContainer } from "./self_search.ts";

/** Pause before reconnecting to the engine, in milliseconds. */
const RETRY_MS = 500;

/** How often the engine is pinged, in milliseconds; a frozen engine does not close the stream. */
const PING_MS = 5_000;

/** A ping that takes longer is one of a busy machine, in milliseconds; and the limit of such pings. */
const SLOW_PING_MS = 100;
const SLOW_PINGS_MAX = 6;

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
    const memory: Memory = { lives: createLives(deps), lastEvent: undefined };
    while (!signal.aborted) {
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
        if (!(error instanceof EngineUnreachableError)) throw error;
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
    memory.lives.lose();
  },
};

/** What outlasts a connection to the engine. */
interface Memory {
  lives: Lives;
  /** The last event that was read. */
  lastEvent: EngineEvent | undefined;
}

/**
 * Follows the engine until the stream ends, the engine stops responding or `signal` aborts.
 *
 * @param round Called whenever the snapshot is known to be correct.
 * @throws {EngineUnreachableError} When the engine is or becomes unreachable.
 */
async function follow(
  deps: WatchDeps,
  memory: Memory,
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
    const events = await systemEvents(engine, {
      since: engine.kind === "docker" ? timeOf(memory.lastEvent) : undefined,
      filters: filtersFor(engine.kind),
      onOversized: gaps.report,
      signal: ended,
    });
    const consuming = Promise.all([
      consume(deps, events, memory, ended).finally(() => end.abort()),
      reportOverdue(deps, lives, ended),
    ]);
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
      await consuming;
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

/** When an event happened, so that the engine repeats those after it; it keeps the last 256. */
function timeOf(event: EngineEvent | undefined): string | undefined {
  if (!event) return undefined;
  const nanoseconds = BigInt(event.timeNano).toString().padStart(10, "0");
  return `${nanoseconds.slice(0, -9)}.${nanoseconds.slice(-9)}`;
}

const isSame = (a: EngineEvent, b: EngineEvent | undefined) =>
  a.timeNano === b?.timeNano && a.Action === b.Action && a.Actor.ID === b.Actor.ID;

/** Reports the ends that wait for an event, as soon as it is overdue. */
async function reportOverdue(
  { engine }: WatchDeps,
  lives: Lives,
  signal: AbortSignal,
): Promise<void> {
  let slow = 0;
  while (!signal.aborted) {
    await lives.untilDue(signal);
    const askedAt = lives.now();
    // By its answer, the engine has sent the events that happened before. An engine that does not
    // answer is noticed by `keepFresh`, which ends the connection.
    const hasAnswered = await systemPing(engine, { signal }).then(() => true, () => false);
    // Where that takes long, a `stop` does as well.
    const isSlow = lives.now() - askedAt > SLOW_PING_MS && ++slow < SLOW_PINGS_MAX;
    if (isSlow || !hasAnswered) {
      await sleep(RETRY_MS, signal);
      continue;
    }
    slow = 0;
    lives.tick();
  }
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
  memory: Memory,
  signal: AbortSignal,
): Promise<void> {
  const refresh = createRefresher(deps, signal);
  const { lastEvent: repeated } = memory;
  try {
    for await (const raw of events) {
      if (raw.timeNano > 0) {
        if (isSame(raw, repeated)) continue;
        memory.lastEvent = raw;
      }
      // Before anything waits: the lines of the next run must not be sent earlier.
      if (raw.Type === "container" && raw.Action === "die") deps.logStreams.wake(raw.Actor.ID);
      const event = raw.Type === "container" ? await withRealExitCode(deps, raw, signal) : raw;
      if (event.Type === "network") {
        const id = event.Actor.Attributes?.container;
        if (id) refresh(id);
      } else if (
        event.Type === "container" && !IGNORED_EVENTS.test(event.Action) &&
        !isHelper(event.Actor.Attributes, event.Actor.Attributes?.image)
      ) {
        memory.lives.readEvent(event);
        recordHealthTime(deps, event);
        await report(deps, event);
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

/** Pings the engine, because a frozen one does not close the stream, and lists again periodically. */
async function keepFresh(
  deps: WatchDeps,
  { gaps, lives }: { gaps: Gaps; lives: Lives },
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  let listedAt = deps.now().getTime();
  while (!signal.aborted) {
    await gaps.wait(PING_MS, signal);
    if (signal.aborted) return;
    await systemPing(deps.engine, { signal });
    const hasGap = gaps.take();
    if (hasGap || deps.now().getTime() - listedAt >= RELIST_MS) {
      await relist(deps, lives, signal);
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

/** Lists everything and reports what happened to containers without a readable event. */
async function relist(deps: WatchDeps, lives: Lives, signal: AbortSignal): Promise<void> {
  const { db, inventory, stats } = deps;
  await removeLeftHelpers(deps, signal);
  const known = inventory.listFollowed();
  const since = lives.now();
  await listAll(deps, signal);
  const containers = inventory.list();
  lives.readListing(containers, since);
  const up = new Set(containers.filter(isUp).map(({ id }) => id));
  for (const { id } of known) if (!up.has(id)) stats.remove(id);
  deleteServiceStopsExcept(db, containers.map(({ id }) => id));
}

/** Reports what events say besides ends and recoveries. */
async function report(deps: WatchDeps, { Action, Actor }: EngineEvent): Promise<void> {
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? deps.inventory.get(id)?.name ?? id.slice(0, 12);
  switch (Action) {
    case "start":
      reportStart(deps, { container, id });
      deps.logStreams.wake(id);
      break;
    case "stop":
      recordStop(deps, container);
      break;
    case "destroy":
      recordRemoval(deps, { container, id });
      break;
    case "oom":
      emit(deps, "container.oom", { container, id });
      break;
    case "health_status: unhealthy": {
      const healthOutput = await lastHealthOutput(deps, id);
      emit(deps, "container.unhealthy", { container, id, healthOutput });
    }
  }
}
