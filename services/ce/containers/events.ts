/**
 * Detects from the engine's events when a container went down, and why.
 *
 * One action causes several events. `docker stop` causes `kill` (the stop signal), sometimes a second
 * `kill` (SIGKILL), `die` and `stop`; `docker kill` causes `kill` and `die`; `docker rm -f` causes
 * `kill`, `die` and `destroy`; an exhausted memory limit causes `oom` and `die`. Therefore a `die`
 * after a signal that may be part of a stop waits for the `stop`, however busy the machine is.
 *
 * @module
 */

import type { EngineEvent } from "../../../engine/events.ts";
import type { DownReason } from "../../events/events.ts";

/** A container that went down. */
export interface Down {
  id: string;
  container: string;
  reason: DownReason;
  exitCode: number | null;
}

/** Limit of containers with events but no end yet; beyond it, only the reason is less exact. */
const HISTORIES_MAX = 10_000;

/** Exit codes above this are 128 and the signal that ended the program. */
const EXIT_SIGNAL = 128;
const SIGKILL = "9";
const EXIT_KILLED = 137;

/** The events of a container since its start. */
interface History {
  /** By the engine, on behalf of a client. Podman does not name them. */
  signals: (string | undefined)[];
  isOom: boolean;
  /** Podman sends `stop` before `die`, and Docker sometimes. */
  isStopped: boolean;
  /** An end that may be a stop. */
  pending: Down | undefined;
  /** Whether a complete round has passed since the end. */
  isOverdue: boolean;
}

/** Collects the events of all containers. */
interface DownReader {
  read(event: EngineEvent): void;
  /**
   * Reports ends without a `stop` that were already pending at the last call. Call it when the engine
   * has just answered: by then, it has sent the `stop` of an earlier end.
   */
  settle(): void;
  /** Reports pending ends as stops: without the stream, their `stop` cannot be seen. */
  close(): void;
}

interface DownReceiver {
  /** Called once for each container that went down. */
  report(down: Down, isExpected: boolean): void;
  /** Whether an action of this service causes the end. Called once for each end. */
  takeExpected(id: string): boolean;
  /** The signal with which the engine stops the container. */
  stopSignalOf(id: string): string | undefined;
}

export function createDownReader({ report, takeExpected, stopSignalOf }: DownReceiver): DownReader {
  const histories = new Map<string, History>();

  const historyOf = (id: string): History => {
    let history = histories.get(id);
    if (!history) {
      if (histories.size >= HISTORIES_MAX) histories.delete(histories.keys().next().value!);
      history = {
        signals: [],
        isOom: false,
        isStopped: false,
        pending: undefined,
        isOverdue: false,
      };
      histories.set(id, history);
    }
    return history;
  };
  const conclude = (id: string, reason?: DownReason) => {
    const pending = histories.get(id)?.pending;
    histories.delete(id);
    if (pending) report(reason ? { ...pending, reason } : pending, false);
  };

  return {
    read({ Action, Actor: { ID: id, Attributes } }) {
      switch (Action) {
        case "kill":
          historyOf(id).signals.push(Attributes?.signal);
          break;
        case "oom":
          historyOf(id).isOom = true;
          break;
        case "stop": {
          const history = historyOf(id);
          history.isStopped = true;
          if (history.pending) conclude(id, "stopped");
          break;
        }
        case "die": {
          const history = historyOf(id);
          const exitCode = exitCodeOf(Attributes);
          const reason = reasonOf(history, exitCode);
          const down = { id, container: Attributes?.name ?? id.slice(0, 12), reason, exitCode };
          if (takeExpected(id)) {
            histories.delete(id);
            report(down, true);
          } else {
            history.pending = down;
            if (!mayBeStop(history, down, stopSignalOf(id))) conclude(id);
          }
          break;
        }
        case "start":
        case "destroy":
          conclude(id);
          break;
      }
    },
    settle() {
      for (const [id, history] of [...histories]) {
        if (history.isOverdue) conclude(id);
        else history.isOverdue = history.pending !== undefined;
      }
    },
    close() {
      for (const id of [...histories.keys()]) conclude(id, "stopped");
    },
  };
}

function reasonOf({ isOom, isStopped, signals }: History, exitCode: number | null): DownReason {
  if (isOom) return "oom";
  if (isStopped) return "stopped";
  const isSignal = signals.length > 0 && exitCode !== null && exitCode > EXIT_SIGNAL;
  return isSignal || exitCode === EXIT_KILLED ? "killed" : "exited";
}

/** Whether a `stop` may follow. A SIGKILL alone is a stop only if it is the stop signal. */
function mayBeStop(
  { isOom, isStopped, signals }: History,
  { exitCode }: Down,
  stopSignal = "SIGTERM",
): boolean {
  if (isOom || isStopped || signals.every((signal) => signal === undefined)) return false;
  const isKill = exitCode === EXIT_KILLED && signals.every((signal) => signal === SIGKILL);
  return !isKill || /^(SIG)?KILL$|^9$/i.test(stopSignal);
}

function exitCodeOf(attributes: Record<string, string> | null): number | null {
  const text = attributes?.exitCode ?? attributes?.containerExitCode;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
