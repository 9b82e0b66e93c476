/** Work that runs beside its caller, up to a limit. @module */

/** Tracks work of a total weight up to `limit`. The first failure is thrown by each later call. */
export function createWorkTracker(limit: number) {
  const running = new Set<Promise<void>>();
  let weight = 0;
  let failure: { error: unknown } | undefined;

  const throwFailure = () => {
    if (failure !== undefined) throw failure.error;
  };

  return {
    /** Starts work when the running work leaves room for it, or none is running. */
    async start(workWeight: number, work: () => Promise<void>): Promise<void> {
      while (running.size > 0 && weight + workWeight > limit) await Promise.race(running);
      throwFailure();
      weight += workWeight;
      const run = work()
        .catch((error) => {
          failure ??= { error };
        })
        .finally(() => {
          weight -= workWeight;
          running.delete(run);
        });
      running.add(run);
    },
    /** Waits for all work. */
    async finish(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
      throwFailure();
    },
  };
}
