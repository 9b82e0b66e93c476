/**
 * The last results of uptime monitors, for the clients of `GET /api/stream`. Only Pro records them.
 *
 * @module
 */

/** A check with the field names of `MonitorCheck` in the API, and the state of its monitor after it. */
export interface MonitorResult {
  monitor_id: string;
  /** Of this check alone. */
  status: "up" | "down";
  response_time_ms: number | null;
  status_code: number | null;
  error: string | null;
  /** The start of the check; ISO 8601, UTC. */
  checked_at: string;
  /** The monitor's status after it. */
  monitor_status: "up" | "down" | "pending" | "paused";
  /** Percent of the known time of the last 24 hours; `null` without any. */
  uptime_24h: number | null;
}

/** Two rounds of the stream, so that each result is in one of them. */
const KEPT_MS = 30_000;

/** Limit of kept results; 300 monitors have fewer at the shortest interval. */
const RESULTS_MAX = 2_000;

export type MonitorResults = ReturnType<typeof createMonitorResults>;

export function createMonitorResults(now: () => Date) {
  const recorded: { result: MonitorResult; atMs: number }[] = [];
  let total = 0;

  return {
    record(result: MonitorResult): void {
      const atMs = now().getTime();
      recorded.push({ result, atMs });
      total++;
      while (recorded.length > RESULTS_MAX || recorded[0]!.atMs < atMs - KEPT_MS) recorded.shift();
    },
    /** Number of results since the start. */
    get total() {
      return total;
    },
    /** The last result and those of the 30 seconds before it, oldest first. */
    latest: (): MonitorResult[] => recorded.map(({ result }) => result),
  };
}
