/**
 * The engine's events about containers and networks: keeps the snapshot up to date, and reports ends,
 * starts, lacks of memory and failed health checks.
 *
 * @module
 */

import { type EngineEvent, systemEvents } from "../../engine/events.ts";
import { systemPing } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import { createYield, sleep } from "../waiting.ts";
import { recordRemoval, recordStop, reportStart } from "./crash_loops.ts";
import { withRealExitCode } from "./exit_code.ts";
import { lastHealthOutput } from "./health_output.ts";
import { recordHealthTime } from "./health_time.ts";
import { isHelper } from "./helpers.ts";
import type { Lives } from "./lives.ts";
import type { ReadDeps } from "./reads.ts";
import { createRefresher } from "./refresher.ts";

/** Events that do not change the description of a container. */
const IGNORED_EVENTS =
  /^(exec_|top$|attach$|resize$|export$|archive-path$|copy$|commit$|extract-to)/;

/** Events after which a container that only looks like a new helper is shown. */
const RUN_EVENTS: ReadonlySet<string> = new Set(["start", "die"]);

/** Pause between two pings for an overdue end, in milliseconds. */
const RETRY_MS = 500;

/** A ping that takes longer is one of a busy machine, in milliseconds; and the limit of such pings. */
const SLOW_PING_MS = 100;
const SLOW_PINGS_MAX = 6;

export type EventDeps = EmitDeps & ReadDeps & Pick<Deps, "eventStream" | "logStreams" | "stats">;

/** State that outlasts a connection to the engine. */
export interface EventMemory {
  lives: Lives;
  /** The last event that was read. */
  lastEvent: EngineEvent | undefined;
}

/** The events of one connection to the engine. */
interface EventReader {
  /** Reads events until the stream ends or the signal aborts. */
  read(): Promise<void>;
}

/** Whether more was received, or is being received, than was read. */
interface Progress {
  /** An event is being processed. */
  isBusy: boolean;
  /** The engine has sent a part of an event. */
  isIncomplete: boolean;
}

/**
 * Subscribes to the events that follow the last one that was read.
 *
 * @param options.onGap Called for each event that says nothing, because it is too large, and each
 * container that could not be read.
 * @throws {EngineUnreachableError}
 */
export async function openEvents(
  deps: EventDeps,
  memory: EventMemory,
  { onGap, signal }: { onGap: () => void; signal: AbortSignal },
): Promise<EventReader> {
  const { engine } = deps;
  const progress: Progress = { isBusy: false, isIncomplete: false };
  const events = await systemEvents(engine, {
    since: engine.kind === "docker" ? timeOf(memory.lastEvent) : undefined,
    filters: filtersFor(engine.kind),
    onOversized: onGap,
    onChunk: (isIncomplete) => progress.isIncomplete = isIncomplete,
    signal,
  });
  return {
    async read() {
      const end = new AbortController();
      const ended = AbortSignal.any([signal, end.signal]);
      await Promise.all([
        consume(deps, events, { memory, progress, onGap, signal }).finally(() => end.abort()),
        reportOverdue(deps, memory.lives, progress, ended),
      ]);
    },
  };
}

async function consume(
  deps: EventDeps,
  events: AsyncIterable<EngineEvent>,
  { memory, progress, onGap, signal }: {
    memory: EventMemory;
    progress: Progress;
    onGap: () => void;
    signal: AbortSignal;
  },
): Promise<void> {
  const refresh = createRefresher(deps, { onFailed: onGap, signal });
  const { lastEvent: repeated } = memory;
  // Reads of a stream that always has more never let requests and timers run.
  const yieldIfLong = createYield();
  try {
    for await (const event of events) {
      progress.isBusy = true;
      await yieldIfLong();
      const isRepeated = event.timeNano > 0 && isSame(event, repeated);
      if (event.timeNano > 0) memory.lastEvent = event;
      if (!isRepeated) await processEvent(deps, event, { lives: memory.lives, refresh, signal });
      progress.isBusy = false;
    }
    if (!signal.aborted) deps.eventStream.recordBreak("The engine ended the stream");
  } catch (error) {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    deps.eventStream.recordBreak(message);
    deps.log.warn("event stream lost", { error: message });
  }
}

async function processEvent(
  deps: EventDeps,
  raw: EngineEvent,
  { lives, refresh, signal }: {
    lives: Lives;
    refresh: (id: string) => void;
    signal: AbortSignal;
  },
): Promise<void> {
  if (raw.Type === "network") {
    const id = raw.Actor.Attributes?.container;
    if (id) refresh(id);
  }
  if (raw.Type !== "container") return;
  // Before anything waits: the lines of the next run must not be sent earlier.
  if (raw.Action === "die") deps.logStreams.wake(raw.Actor.ID);
  const event = await withRealExitCode(deps, raw, signal);
  const { Action, Actor: { ID: id, Attributes } } = event;
  const isNew = !RUN_EVENTS.has(Action) && !deps.inventory.get(id);
  if (IGNORED_EVENTS.test(Action) || isHelper(Attributes, Attributes?.name, { isNew })) return;
  lives.readEvent(event);
  recordHealthTime(deps, event);
  await report(deps, event);
  refresh(id);
}

/** Reports what events say besides ends and recoveries. */
async function report(deps: EventDeps, { Action, Actor }: EngineEvent): Promise<void> {
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? deps.inventory.get(id)?.name ?? id.slice(0, 12);
  switch (Action) {
    case "start":
      reportStart(deps, { container, id });
      deps.logStreams.wake(id);
      break;
    case "stop":
      recordStop(deps, { container, id });
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

/**
 * Reports the ends that wait for an event, as soon as it is overdue: when the engine has answered, and
 * everything that it sent before was read. An engine that does not answer is noticed by the watcher,
 * which ends the connection.
 */
async function reportOverdue(
  { engine }: Pick<EventDeps, "engine">,
  lives: Lives,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  let slow = 0;
  while (!signal.aborted) {
    await lives.untilDue(signal);
    const askedAt = lives.now();
    const hasAnswered = await systemPing(engine, { signal }).then(() => true, () => false);
    // If the ping takes long, a `stop` does as well.
    const isSlow = lives.now() - askedAt > SLOW_PING_MS && ++slow < SLOW_PINGS_MAX;
    if (isSlow || !hasAnswered || progress.isBusy || progress.isIncomplete) {
      await sleep(RETRY_MS, signal);
      continue;
    }
    slow = 0;
    lives.tick();
  }
}

/** When an event happened, so that the engine repeats those after it; it keeps the last 256. */
function timeOf(event: EngineEvent | undefined): string | undefined {
  if (!event) return undefined;
  const nanoseconds = BigInt(event.timeNano).toString().padStart(10, "0");
  return `${nanoseconds.slice(0, -9)}.${nanoseconds.slice(-9)}`;
}

const isSame = (a: EngineEvent, b: EngineEvent | undefined) =>
  a.timeNano === b?.timeNano && a.Action === b.Action && a.Actor.ID === b.Actor.ID;

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
