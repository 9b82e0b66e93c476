/** Reads containers again after their events. @module */

import type { Deps } from "../deps.ts";
import { isUp, type ReadDeps, refreshContainer } from "./reads.ts";
import { logWarnings } from "./unreadable.ts";

/**
 * Refreshes containers, each one read at a time; events during a read cause another one.
 *
 * @param onFailed Called when a container could not be read, so that the snapshot may be outdated.
 */
export function createRefresher(
  deps: ReadDeps & Pick<Deps, "log" | "stats">,
  { onFailed, signal }: { onFailed: () => void; signal: AbortSignal },
): (id: string) => void {
  const running = new Map<string, { again: boolean }>();

  const run = async (id: string, state: { again: boolean }) => {
    try {
      do {
        state.again = false;
        const { now, before } = await refreshContainer(deps, id, signal);
        if (now) logWarnings(deps.log, [before], [now]);
        if (!now || !isUp(now)) deps.stats.remove(id);
      } while (state.again && !signal.aborted);
    } catch (error) {
      if (signal.aborted) return;
      // An unreachable engine also ends the stream, which is logged there.
      deps.log[deps.engine.reachable ? "warn" : "debug"]("container refresh failed", {
        id,
        error: String(error),
      });
      onFailed();
    } finally {
      running.delete(id);
    }
  };
  return (id) => {
    const state = running.get(id);
    if (state) return void (state.again = true);
    const started = { again: false };
    running.set(id, started);
    void run(id, started);
  };
}
