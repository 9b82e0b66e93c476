/**
 * Detects from the engine's events when a container went down, and why.
 *
 * One action causes several events. `docker stop` causes `kill` (the stop signal), sometimes a second
 * `kill` (SIGKILL), `die` and `stop`; `docker kill` causes `kill` and `die`; `docker rm -f` causes
 * `kill`, `die` and `destroy`; an exhausted memory limit causes `oom` and `die`. Therefore a `die`
 * after a `kill` waits briefly for a `stop`.
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

/** How long a `die` after a `kill` waits for a `stop`, in milliseconds. */
export const STOP_WAIT_MS = 500;

/** Limit of containers with events but no end yet; beyond it, only the reason is less exact. */
const HISTORIES_MAX = 10_000;

/** 128 + SIGKILL. */
const EXIT_KILLED = 137;

/** The events of a container since its start. */
interface History {
  isKilled: boolean;
  isOom: boolean;
  /** Podman sends `stop` before `die`. */
  isStopped: boolean;
  pending: { down: Down; timer: ReturnType<typeof setTimeout> } | undefined;
}

/** Collects the events of all containers. */
interface DownReader {
  read(event: EngineEvent): void;
  /** Reports pending ends without further waiting. */
  close(): void;
}

/** @param report Called once for each container that went down. */
export function createDownReader(report: (down: Down) => void): DownReader {
  const histories = new Map<string, History>();

  const historyOf = (id: string): History => {
    let history = histories.get(id);
    if (!history) {
      if (histories.size >= HISTORIES_MAX) histories.delete(histories.keys().next().value!);
      history = { isKilled: false, isOom: false, isStopped: false, pending: undefined };
      histories.set(id, history);
    }
    return history;
  };
  const conclude = (id: string, reason?: DownReason) => {
    const pending = histories.get(id)?.pending;
    histories.delete(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    report(reason ? { ...pending.down, reason } : pending.down);
  };

  return {
    read({ Action, Actor: { ID: id, Attributes } }) {
      switch (Action) {
        case "kill":
          historyOf(id).isKilled = true;
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
          const timer = setTimeout(() => conclude(id), STOP_WAIT_MS);
          history.pending = { down, timer };
          if (reason !== "killed" || !history.isKilled) conclude(id);
          break;
        }
        case "start":
        case "destroy":
          conclude(id);
          break;
      }
    },
    close() {
      for (const id of [...histories.keys()]) conclude(id);
    },
  };
}

function reasonOf(history: History, exitCode: number | null): DownReason {
  if (history.isOom) return "oom";
  if (history.isStopped) return "stopped";
  if (history.isKilled || exitCode === EXIT_KILLED) return "killed";
  return "exited";
}

function exitCodeOf(attributes: Record<string, string> | null): number | null {
  const text = attributes?.exitCode ?? attributes?.containerExitCode;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
