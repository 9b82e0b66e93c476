/**
 * Maintenance mode: alerts, remediation and notices are paused; recording continues.
 *
 * @module
 */

/** The mode as set by a user. Times are ISO 8601, UTC. */
export interface MaintenanceState {
  enabled: boolean;
  /** When it ends automatically; `null` if a user has to end it. */
  until: string | null;
  reason: string | null;
}

export interface Maintenance {
  /** The current state: off after `until`. */
  readonly state: MaintenanceState;
  readonly active: boolean;
  /** Applies a state that was stored. */
  set(state: MaintenanceState): void;
}

export const NO_MAINTENANCE: MaintenanceState = { enabled: false, until: null, reason: null };

export function createMaintenance(now: () => Date, stored = NO_MAINTENANCE): Maintenance {
  let state = stored;
  const isOver = () => state.until !== null && now() >= new Date(state.until);
  return {
    get state() {
      return state.enabled && isOver() ? NO_MAINTENANCE : state;
    },
    get active() {
      return state.enabled && !isOver();
    },
    set: (next) => void (state = next),
  };
}
