/**
 * The state of a background worker.
 *
 * @module
 */

/** The end of the last round, and the last failure. Times are ISO 8601, UTC. */
export interface WorkerState {
  name: string;
  lastRoundAt: string | null;
  lastError: string | null;
  lastErrorAt: string | null;
}
