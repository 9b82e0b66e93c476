/** Running polls: at most one per integration or monitor, stopped when that is changed. @module */

export type RunningPolls = ReturnType<typeof createRunningPolls>;

export function createRunningPolls(now: () => Date) {
  const running = new Map<string, { end: AbortController; outcome: Promise<unknown> }>();
  const started = new Map<string, Date>();

  /** Aborts the poll with this id, if there is one. */
  const stop = (id: string): void => {
    running.get(id)?.end.abort();
    running.delete(id);
    started.delete(id);
  };

  return {
    isRunning: (id: string) => running.has(id),
    /** When the last poll of this process started, even if its result could not be stored. */
    startedAt: (id: string) => started.get(id),
    /**
     * Starts a poll, or returns the result of the running one.
     *
     * @param work Must return soon after its signal aborts, without changing anything.
     */
    run<T>(id: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const current = running.get(id);
      if (current) return current.outcome as Promise<T>;
      const end = new AbortController();
      started.set(id, now());
      const outcome = work(end.signal).finally(() => {
        if (running.get(id)?.end === end) running.delete(id);
      });
      running.set(id, { end, outcome });
      return outcome;
    },
    stop,
    stopAll: (): void => [...running.keys()].forEach(stop),
  };
}
