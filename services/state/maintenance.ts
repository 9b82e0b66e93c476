/**
 * Maintenance mode: alerts, remediation and notices pause, recording goes on.
 *
 * @module
 */

/** The mode as it was set. Times are ISO 8601, UTC. */
export interface MaintenanceState {
  enabled: boolean;
  /** When it ends by itself; `null` is when somebody ends it. */
  until: string | null;
  reason: string | null;
}

export interface Maintenance {
  /** As it is now: one whose time is over is off. */
  readonly state: MaintenanceState;
  readonly active: boolean;
  /** Takes over a state that was stored. */
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
