/**
 * The life of one container, from start to end: decides when an end is reported, and why it
 * happened. Both the engine's events and listings show ends; each is reported once.
 *
 * One action causes several events. `docker stop` causes `kill` (the stop signal), sometimes a second
 * `kill` (SIGKILL), `die` and `stop`; `docker kill` causes `kill` and `die`; `docker rm -f` causes
 * `kill`, `die` and `destroy`; an exhausted memory limit causes `oom` and `die`. Therefore a `die`
 * after a signal that may be part of a stop waits for the `stop`, but at most {@linkcode WAIT_MS}.
 * An end that only a listing shows waits as long for its `die`, which knows the true reason.
 *
 * @module
 */

import type { DownReason } from "../events/kinds/containers.ts";
import type { Container } from "./inventory.ts";
import { isUp } from "./reads.ts";

/** Time for which an end waits for an event that explains it, in milliseconds. */
export const WAIT_MS = 700;

/** A container that went down. */
export interface Down {
  id: string;
  container: string;
  reason: DownReason;
  exitCode: number | null;
}

/** An end that is not reported yet. */
interface PendingEnd {
  down: Down;
  isExpected: boolean;
  /** Whether its `die` was read; otherwise a listing showed it. */
  hasEvent: boolean;
  /** In the time of `now`. */
  dueAt: number;
}

/** The state of a container, as far as its next report depends on it. */
export interface Life {
  name: string;
  /** Whether its current run is known and not known to have ended. */
  isUp: boolean;
  isUnhealthy: boolean;
  /** When an event last changed the state; a listing that began before may be older. */
  changedAt: number;
  /** Numbers of the signals that clients sent since the start, e.g. `15`; empty if unknown. */
  signals: ReadonlySet<string>;
  isOom: boolean;
  /** Podman sends `stop` before `die`, and Docker sometimes. */
  isStopped: boolean;
  pending: PendingEnd | undefined;
  /** Whether the last end was reported without its `die`, which may still follow. */
  lacksEvent: boolean;
}

/** An event or a reading of a container. `isExpected`: this service causes an end now. */
export type LifeEvent =
  /** `signal` is undefined with Podman, which does not name it. */
  | { kind: "kill"; signal: string | undefined }
  | { kind: "oom" | "stop" | "start" | "destroy" | "unhealthy" | "healthy" }
  | { kind: "die"; exitCode: number | null; stopSignal: string | undefined; isExpected: boolean }
  /** `container` is undefined if it no longer exists. */
  | { kind: "listed"; container: Container | undefined; since: number; isExpected: boolean }
  /** The engine has answered, so that everything it sent earlier was read. */
  | { kind: "tick" }
  /** The engine is gone, or this service ends: no `stop` can follow. */
  | { kind: "lost" };

export type LifeReport =
  | { kind: "down"; down: Down; isExpected: boolean }
  /** An unhealthy container is healthy again. */
  | { kind: "healthy" };

/** Exit codes above this are 128 and the signal that ended the program. */
const EXIT_SIGNAL = 128;
const SIGKILL = "9";
const EXIT_KILLED = 137;

/** Limit of different signals that are kept. */
const SIGNALS_MAX = 64;

export const newLife = (name: string): Life => ({
  name,
  isUp: false,
  isUnhealthy: false,
  changedAt: -Infinity,
  signals: new Set(),
  isOom: false,
  isStopped: false,
  pending: undefined,
  lacksEvent: false,
});

/**
 * Returns the state after an event, and what to report.
 *
 * @param now Milliseconds of a clock that is never set.
 * @returns `life` is undefined for a container that can be forgotten.
 */
export function nextLife(
  id: string,
  life: Life,
  event: LifeEvent,
  now: number,
): { life: Life | undefined; reports: LifeReport[] } {
  switch (event.kind) {
    case "kill": {
      if (life.signals.size >= SIGNALS_MAX || event.signal === undefined) return kept(life);
      return kept({ ...life, signals: new Set([...life.signals, event.signal]) });
    }
    case "oom":
      return kept({ ...life, isOom: true });
    case "unhealthy":
      return kept({ ...life, isUnhealthy: true, changedAt: now });
    case "healthy":
      return recover({ ...life, changedAt: now });
    case "stop":
      return life.pending?.hasEvent
        ? conclude({ ...life, isStopped: true }, "stopped")
        : kept({ ...life, isStopped: true });
    case "die":
      return die(id, life, event, now);
    case "start":
      return {
        life: { ...newLife(life.name), isUp: true, changedAt: now },
        reports: conclude(life).reports,
      };
    case "destroy":
      return { life: undefined, reports: conclude(life).reports };
    case "listed":
      return compare(id, life, event, now);
    case "tick":
      return life.pending && life.pending.dueAt <= now ? conclude(life) : kept(life);
    case "lost":
      return conclude(life, life.pending?.hasEvent ? "stopped" : undefined);
  }
}

type Next = ReturnType<typeof nextLife>;

const kept = (life: Life): Next => ({ life, reports: [] });

/** Reports the pending end, if there is one. The signals before it explain no later one. */
function conclude(life: Life, reason?: DownReason): Next {
  const { pending } = life;
  if (!pending) return kept(life);
  const { isExpected, hasEvent } = pending;
  const down = reason ? { ...pending.down, reason } : pending.down;
  const { name, changedAt } = life;
  return {
    life: { ...newLife(name), changedAt, lacksEvent: !hasEvent },
    reports: [{ kind: "down", down, isExpected }],
  };
}

function recover(life: Life): Next {
  return {
    life: { ...life, isUnhealthy: false },
    reports: life.isUnhealthy ? [{ kind: "healthy" }] : [],
  };
}

function die(
  id: string,
  life: Life,
  { exitCode, stopSignal, isExpected }: Extract<LifeEvent, { kind: "die" }>,
  now: number,
): Next {
  if (!life.isUp && life.lacksEvent) {
    return kept({ ...newLife(life.name), changedAt: now });
  }
  // Two ends without a start between them: the start was not read.
  const earlier = life.pending?.hasEvent ? conclude(life).reports : [];
  const reason = classifyEnd(life, exitCode);
  const ended: Life = {
    ...life,
    isUp: false,
    isUnhealthy: false,
    changedAt: now,
    pending: {
      down: { id, container: life.name, reason, exitCode },
      isExpected,
      hasEvent: true,
      dueAt: now + WAIT_MS,
    },
  };
  const next = !isExpected && mayBeStop(ended, exitCode, stopSignal)
    ? kept(ended)
    : conclude(ended);
  return { ...next, reports: [...earlier, ...next.reports] };
}

/** A listing shows the state at some time since it began. */
function compare(
  id: string,
  life: Life,
  { container, since, isExpected }: Extract<LifeEvent, { kind: "listed" }>,
  now: number,
): Next {
  if (life.changedAt >= since || life.pending) return kept(life);
  if (container && isUp(container)) {
    const listed = { ...life, name: container.name, isUp: true, lacksEvent: false };
    if (container.health === "unhealthy") return kept({ ...listed, isUnhealthy: true });
    return container.health === "healthy" ? recover(listed) : kept(listed);
  }
  if (!life.isUp) return { life: container && { ...life, name: container.name }, reports: [] };
  const exitCode = container?.exitCode ?? null;
  const isOom = life.isOom || container?.details.oomKilled === true;
  const reason = container ? classifyEnd({ ...life, isOom }, exitCode) : "killed";
  const ended: Life = {
    ...life,
    isUp: false,
    isUnhealthy: false,
    pending: {
      down: { id, container: life.name, reason, exitCode },
      isExpected,
      hasEvent: false,
      dueAt: now + WAIT_MS,
    },
  };
  return isExpected ? conclude(ended) : kept(ended);
}

function classifyEnd(
  { isOom, isStopped, signals }: Pick<Life, "isOom" | "isStopped" | "signals">,
  exitCode: number | null,
): DownReason {
  if (isOom) return "oom";
  if (isStopped) return "stopped";
  const isSignal = exitCode !== null && exitCode > EXIT_SIGNAL &&
    (signals.has(String(exitCode - EXIT_SIGNAL)) || signals.has(""));
  return isSignal || exitCode === EXIT_KILLED ? "killed" : "exited";
}

/** Whether a `stop` may follow. A SIGKILL alone is a stop only if it is the stop signal. */
function mayBeStop(
  { isOom, isStopped, signals }: Life,
  exitCode: number | null,
  stopSignal = "SIGTERM",
): boolean {
  if (isOom || isStopped || signals.size === 0) return false;
  const isKill = exitCode === EXIT_KILLED && signals.size === 1 && signals.has(SIGKILL);
  return !isKill || /^(SIG)?KILL$|^9$/i.test(stopSignal);
}
