/**
 * Keeps the inventory: lists once, then follows the engine's events and reads anew only what an
 * event names. When the stream is lost the snapshot is no longer live, and it lists again.
 *
 * @module
 */

import {
  deleteServiceStop,
  deleteServiceStopsExcept,
  upsertServiceStop,
} from "../../../db/ce/service_stops.ts";
import type { ContainerState } from "../../state/inventory.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { type EngineEvent, systemEvents } from "../../../engine/events.ts";
import { systemPing } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { sleep, type Worker } from "../../lifecycle.ts";
import { createDownReader, type Down } from "./events.ts";
import { listAll, refreshContainer } from "./reads.ts";
import { lastHealthOutput } from "./health_output.ts";
import { withRealExitCode } from "./event_attributes.ts";
import { findOwnContainer } from "./self_search.ts";
import { recoverRebuilds } from "../rebuild/recovery.ts";

/** Pause before the next try to reach the engine, in milliseconds. */
const RETRY_MS = 500;

/** How often a silent stream is doubted, in milliseconds; a frozen engine closes nothing. */
const PING_MS = 5_000;

/** How often everything is listed anew although nothing points to a gap, in milliseconds. */
const RELIST_MS = 10 * 60_000;

/** Shortest time between two listings that unreadable events cause, in milliseconds. */
const GAP_RELIST_MS = 5_000;

/** Events of a container that change nothing in its description. */
const UNINTERESTING =
  /^(exec_|top$|attach$|resize$|export$|archive-path$|copy$|commit$|extract-to)/;

type WatchDeps =
  & EmitDeps
  & Pick<
    Deps,
    "config" | "engine" | "eventStream" | "inventory" | "reservations" | "self" | "stats"
  >;

export const containerWatcher: Worker = {
  name: "container watcher",
  edition: "ce",
  async run(deps, signal, round) {
    let told = false;
    while (!signal.aborted) {
      try {
        await follow(deps, signal, () => {
          if (told) deps.log.info("engine connection restored");
          told = false;
          round();
        });
      } catch (error) {
        if (!signal.aborted && !(error instanceof EngineUnreachableError)) throw error;
        if (!told && !signal.aborted) {
          deps.log.warn("engine connection lost", { error: (error as Error).message });
        }
        told = true;
      }
      await sleep(RETRY_MS, signal);
    }
  },
};

/**
 * Follows the engine until the stream ends, the engine falls silent or `signal` aborts.
 *
 * @param round Called whenever the snapshot is known to be right.
 * @throws {EngineUnreachableError} When the engine is away, or goes away.
 */
async function follow(
  deps: WatchDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { engine, inventory } = deps;
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const downs = createDownReader((down) => tellDown(deps, down));
  try {
    // The filters depend on whose engine it is, which is not known before the first contact.
    if (engine.kind === undefined) await systemPing(engine, { signal: ended });
    // Subscribed before the listing, so that nothing falls between the two.
    const gaps = createGaps();
    const events = await systemEvents(engine, {
      filters: filtersFor(engine.kind),
      onOversized: gaps.report,
      signal: ended,
    });
    const consuming = consume(deps, events, downs, ended).finally(() => end.abort());
    try {
      await findOwnContainer(deps, ended);
      // A rebuild that was interrupted by the end of the engine or of this process.
      await recoverRebuilds(deps);
      await relist(deps, ended);
      inventory.setLive(true);
      round();
      await keepFresh(deps, gaps, ended, round);
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

/** Podman knows other names of events and refuses a filter that has one it does not know. */
function filtersFor(kind: "docker" | "podman" | undefined) {
  const type = ["container", "network"];
  if (kind !== "docker") return { type: ["container"] };
  // Health checks make two exec events each; on a busy host they would fill the engine's buffer.
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
  const refresh = refresher(deps, signal);
  try {
    for await (const raw of events) {
      const event = raw.Type === "container" ? await withRealExitCode(deps, raw, signal) : raw;
      if (event.Type === "network") {
        const id = event.Actor.Attributes?.container;
        if (id) refresh(id);
      } else if (event.Type === "container" && !UNINTERESTING.test(event.Action)) {
        downs.read(event);
        tellUp(deps, event);
        await tellUnhealthy(deps, event);
        refresh(event.Actor.ID);
      }
    }
    if (!signal.aborted) deps.eventStream.recordBreak("The engine ended the stream");
  } catch (error) {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    deps.eventStream.recordBreak(message);
    deps.log.warn("event stream broke", { error: message });
  }
}

/** Reads a container anew, once at a time; what happens meanwhile is read right after. */
function refresher(deps: WatchDeps, signal: AbortSignal): (id: string) => void {
  const running = new Map<string, { again: boolean }>();

  const run = async (id: string, state: { again: boolean }) => {
    try {
      do {
        state.again = false;
        const { now } = await refreshContainer(deps, id, signal);
        if (!now || !isUp(now.state)) deps.stats.remove(id);
      } while (state.again && !signal.aborted);
    } catch (error) {
      // The engine going away also ends the stream; anything else must not go unnoticed.
      if (!signal.aborted) deps.log.debug("refresh failed", { id, error: String(error) });
    } finally {
      running.delete(id);
    }
  };
  return (id) => {
    const state = running.get(id);
    if (state) return void (state.again = true);
    const fresh = { again: false };
    running.set(id, fresh);
    void run(id, fresh);
  };
}

/** Pings the engine, because a frozen one closes nothing, and lists again from time to time. */
async function keepFresh(
  deps: WatchDeps,
  gaps: Gaps,
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
      await recoverRebuilds(deps);
      await relist(deps, signal);
      listedAt = deps.now().getTime();
    }
    round();
    // An image can make every event of its containers unreadable.
    if (hasGap) await sleep(GAP_RELIST_MS, signal);
  }
}

/** Events that could not be read, so that everything has to be listed again. */
interface Gaps {
  report(): void;
  /** Waits for the next gap, but no longer than `ms`. */
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

/** Lists everything; what went down while nobody looked is told now. */
async function relist(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { inventory } = deps;
  const ran = inventory.listFollowed().filter(({ state }) => state === "running");
  await listAll(deps, signal);
  for (const { id, name } of ran) {
    const now = inventory.get(id);
    if (now && isUp(now.state)) continue;
    deps.stats.remove(id);
    const exitCode = now?.exitCode ?? null;
    const reason = exitCode === 137 || now === undefined ? "killed" : "exited";
    tellDown(deps, { id, container: name, reason, exitCode });
  }
  deleteServiceStopsExcept(deps.db, inventory.list().map(({ id }) => id));
}

const isUp = (state: ContainerState) => state === "running" || state === "paused";

/** What this service took down itself is no event, but must be told from a failure later. */
function tellDown(deps: WatchDeps, down: Down): void {
  const { db, inventory, now } = deps;
  if (inventory.takeExpectedDown(down.id)) upsertServiceStop(db, down.id, now().toISOString());
  else emit(deps, "container.down", { ...down }, () => deleteServiceStop(db, down.id));
}

function tellUp(deps: WatchDeps, { Action, Actor }: EngineEvent): void {
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? id.slice(0, 12);
  if (Action === "start") {
    emit(deps, "container.up", { container, id }, () => deleteServiceStop(deps.db, id));
  }
  if (Action === "oom") emit(deps, "container.oom", { container, id });
}

async function tellUnhealthy(deps: WatchDeps, { Action, Actor }: EngineEvent): Promise<void> {
  if (Action !== "health_status: unhealthy") return;
  const id = Actor.ID;
  const container = Actor.Attributes?.name ?? id.slice(0, 12);
  const healthOutput = await lastHealthOutput(deps, id);
  emit(deps, "container.unhealthy", { container, id, healthOutput });
}
