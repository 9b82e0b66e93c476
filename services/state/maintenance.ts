/**
 * Maintenance mode and recurring windows: alerts, remediation and notices are paused; recording
 * continues.
 *
 * @module
 */

import type { ScopedContainer } from "../auth/scope.ts";
import { type Target, targetHas } from "../target.ts";

/** The mode as set by a user. Times are ISO 8601, UTC. */
export interface MaintenanceState {
  enabled: boolean;
  /** When it ends automatically; `null` if a user has to end it. */
  until: string | null;
  reason: string | null;
  /** When a user ended the windows of the host that were open; they open again at their next time. */
  windowsEndedAt?: string;
}

/** A recurring window. */
export interface MaintenanceWindow {
  target: Target;
  reason: string | null;
  /**
   * When the window closes; `undefined` if it is not open.
   *
   * @param after Ignores openings at or before this time.
   */
  openUntil(now: Date, after?: Date): Date | undefined;
}

export interface Maintenance {
  /** The current state: off after `until`, on during a window of the host. */
  readonly state: MaintenanceState;
  readonly active: boolean;
  /** Whether it is active for a container: for the host, or in a window of the container. */
  includes(container: ScopedContainer): boolean;
  /** Applies a state that was stored. */
  set(state: MaintenanceState): void;
  /** Applies the windows that were stored. */
  setWindows(windows: readonly MaintenanceWindow[]): void;
}

export const NO_MAINTENANCE: MaintenanceState = { enabled: false, until: null, reason: null };

export function createMaintenance(
  now: () => Date,
  stored: { state: MaintenanceState; windows: readonly MaintenanceWindow[] } = {
    state: NO_MAINTENANCE,
    windows: [],
  },
): Maintenance {
  let { state, windows } = stored;
  const current = (): MaintenanceState => {
    const at = now();
    if (state.enabled && (state.until === null || at < new Date(state.until))) return state;
    const endedAt = state.windowsEndedAt === undefined ? undefined : new Date(state.windowsEndedAt);
    for (const { target, reason, openUntil } of windows) {
      const until = target.kind === "host" ? openUntil(at, endedAt) : undefined;
      if (until) return { enabled: true, until: until.toISOString(), reason };
    }
    return NO_MAINTENANCE;
  };
  return {
    get state() {
      return current();
    },
    get active() {
      return current().enabled;
    },
    includes: (container) =>
      current().enabled ||
      windows.some(({ target, openUntil }) =>
        targetHas(target, container) && openUntil(now()) !== undefined
      ),
    set: (next) => void (state = next),
    setWindows: (next) => void (windows = next),
  };
}
