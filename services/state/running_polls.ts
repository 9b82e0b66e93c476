/**
 * The polls of integrations that are under way: at most one of each integration, and an end to it
 * when the integration changes.
 *
 * @module
 */

export interface RunningPolls {
  isRunning(id: string): boolean;
  /** When the last poll of this process began, whether or not anything of it could be stored. */
  startedAt(id: string): Date | undefined;
  /**
   * Runs a poll, or joins the one that is under way.
   *
   * @param work Ends soon after its signal aborts, and then leaves everything as it is.
   */
  run<T>(id: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Ends the poll of an integration, if there is one; the next one begins afresh. */
  stop(id: string): void;
  /** Ends all. */
  stopAll(): void;
}

export function createRunningPolls(now: () => Date): RunningPolls {
  const running = new Map<string, { end: AbortController; outcome: Promise<unknown> }>();
  const started = new Map<string, Date>();

  const stop = (id: string) => {
    running.get(id)?.end.abort();
    running.delete(id);
    started.delete(id);
  };

  return {
    isRunning: (id) => running.has(id),
    startedAt: (id) => started.get(id),
    run<T>(id: string, work: (signal: AbortSignal) => Promise<T>) {
      const under = running.get(id);
      if (under) return under.outcome as Promise<T>;
      const end = new AbortController();
      started.set(id, now());
      const outcome = work(end.signal).finally(() => {
        if (running.get(id)?.end === end) running.delete(id);
      });
      running.set(id, { end, outcome });
      return outcome;
    },
    stop,
    stopAll: () => [...running.keys()].forEach(stop),
  };
}
