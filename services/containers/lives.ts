/**
 * The lives of all containers, and the reports of their ends: {@linkcode nextLife} decides, this
 * module keeps the states and passes the reports on.
 *
 * @module
 */

import type { EngineEvent } from "../../engine/events.ts";
import type { Deps } from "../deps.ts";
import { sleep } from "../waiting.ts";
import type { Container } from "./inventory.ts";
import { recordServiceStop, reportExit, reportHealthy } from "./crash_loops.ts";
import { type Life, type LifeEvent, newLife, nextLife } from "./life.ts";

/** Limit of known containers; of others, an end that no event shows is not reported. */
const LIVES_MAX = 10_000;

/** Interval at which an idle wait checks for ends, in milliseconds. */
const IDLE_MS = 5_000;

export interface Lives {
  /** Call it before the snapshot shows what the event is about. */
  readEvent(event: EngineEvent): void;
  /**
   * Compares a complete listing.
   *
   * @param since {@linkcode Lives.now} before it began.
   */
  readListing(containers: readonly Container[], since: number): void;
  /** Waits until an end is overdue, or `signal` aborts. */
  untilDue(signal: AbortSignal): Promise<void>;
  /** Reports overdue ends. Call it when the engine has just answered. */
  tick(): void;
  /** Reports all ends that wait, because the engine is gone or this service ends. */
  lose(): void;
  /** A clock that is never set, in milliseconds. */
  now(): number;
}

type LivesDeps = Parameters<typeof reportExit>[0] & Pick<Deps, "inventory">;

export function createLives(deps: LivesDeps): Lives {
  const { inventory } = deps;
  const lives = new Map<string, Life>();
  // In the order of their deadlines, because every wait is equally long.
  const waiting = new Set<string>();
  let woken = new AbortController();
  const now = () => performance.now();

  const pass = (id: string, name: string, event: LifeEvent) => {
    const known = lives.get(id) ?? newLife(name);
    const { life, reports } = nextLife(
      id,
      known.name === name ? known : { ...known, name },
      event,
      now(),
    );
    keep(id, life);
    for (const report of reports) {
      if (report.kind === "healthy") reportHealthy(deps, { container: name, id });
      else if (!report.isExpected) reportExit(deps, report.down);
      else {
        inventory.takeExpectedDown(id);
        recordServiceStop(deps, report.down);
      }
    }
  };

  const keep = (id: string, life: Life | undefined) => {
    if (life) {
      if (!lives.has(id) && lives.size >= LIVES_MAX) forget(lives.keys().next().value!);
      lives.set(id, life);
    } else forget(id);
    if (!life?.pending) waiting.delete(id);
    else if (!waiting.has(id)) {
      waiting.add(id);
      woken.abort();
    }
  };
  const forget = (id: string) => {
    lives.delete(id);
    waiting.delete(id);
  };
  // A worker that failed begins again with what the last one knew.
  for (const container of inventory.listFollowed()) {
    const { id, name } = container;
    pass(id, name, { kind: "listed", container, since: now(), isExpected: false });
  }
  const passToWaiting = (event: LifeEvent) => {
    for (const id of [...waiting]) pass(id, lives.get(id)!.name, event);
  };

  return {
    now,
    readEvent({ Action, Actor: { ID: id, Attributes } }) {
      const known = inventory.get(id);
      const name = Attributes?.name ?? known?.name ?? lives.get(id)?.name ?? id.slice(0, 12);
      switch (Action) {
        case "kill": {
          // A label of that name replaces the attribute.
          const isKnown = Attributes !== null && !Object.hasOwn(known?.labels ?? {}, "signal");
          return pass(id, name, { kind: "kill", signal: isKnown ? Attributes.signal : "" });
        }
        case "die":
          return pass(id, name, {
            kind: "die",
            exitCode: exitCodeOf(Attributes),
            stopSignal: known?.details.stopSignal,
            isExpected: inventory.isDownExpected(id),
          });
        case "oom":
        case "stop":
        case "start":
        case "destroy":
          return pass(id, name, { kind: Action });
        case "health_status: unhealthy":
          return pass(id, name, { kind: "unhealthy" });
        case "health_status: healthy":
          return pass(id, name, { kind: "healthy" });
      }
    },
    readListing(containers, since) {
      const listed = new Set(containers.map(({ id }) => id));
      for (const container of containers) {
        const { id, name } = container;
        const isExpected = inventory.isDownExpected(id);
        pass(id, name, { kind: "listed", container, since, isExpected });
      }
      for (const [id, { name }] of [...lives]) {
        if (listed.has(id)) continue;
        const isExpected = inventory.isDownExpected(id);
        pass(id, name, { kind: "listed", container: undefined, since, isExpected });
      }
    },
    async untilDue(signal) {
      while (!signal.aborted) {
        const [first] = waiting;
        const dueAt = first === undefined ? Infinity : lives.get(first)!.pending!.dueAt;
        if (dueAt <= now()) return;
        woken = new AbortController();
        await sleep(
          Math.min(IDLE_MS, Math.ceil(dueAt - now())),
          AbortSignal.any([signal, woken.signal]),
        );
      }
    },
    tick: () => passToWaiting({ kind: "tick" }),
    lose: () => passToWaiting({ kind: "lost" }),
  };
}

function exitCodeOf(attributes: Record<string, string> | null): number | null {
  const text = attributes?.exitCode ?? attributes?.containerExitCode;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
