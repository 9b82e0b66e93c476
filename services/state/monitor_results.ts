/**
 * The last results of uptime monitors, for the clients of `GET /api/stream`. Only Pro records them.
 *
 * @module
 */

/** The result of a check, with the names of `MonitorCheck` in the API, and what it means. */
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

/** The oldest ones of more are dropped. */
const RESULTS_MAX = 1_000;

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
    /** The results of the last 30 seconds before the last one, oldest first. */
    latest: (): MonitorResult[] => recorded.map(({ result }) => result),
  };
}
