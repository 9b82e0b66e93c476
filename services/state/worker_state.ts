/**
 * What is known of a background worker.
 *
 * @module
 */

/** When its last round ended, and its last failure. Times are ISO 8601, UTC. */
export interface WorkerState {
  name: string;
  lastRoundAt: string | null;
  lastError: string | null;
  lastErrorAt: string | null;
}
