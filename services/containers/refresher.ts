/** Reads containers again after their events. @module */

import type { Deps } from "../deps.ts";
import { isUp, type ReadDeps, refreshContainer } from "./reads.ts";

/** Refreshes containers, each one read at a time; events during a read cause another one. */
export function createRefresher(
  deps: ReadDeps & Pick<Deps, "log" | "stats">,
  signal: AbortSignal,
): (id: string) => void {
  const running = new Map<string, { again: boolean }>();

  const run = async (id: string, state: { again: boolean }) => {
    try {
      do {
        state.again = false;
        const { now } = await refreshContainer(deps, id, signal);
        if (!now || !isUp(now)) deps.stats.remove(id);
      } while (state.again && !signal.aborted);
    } catch (error) {
      // An unreachable engine also ends the stream, which is logged there.
      if (!signal.aborted) deps.log.debug("refresh failed", { id, error: String(error) });
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
