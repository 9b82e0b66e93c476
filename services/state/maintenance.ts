/**
 * Maintenance mode and recurring windows: alerts, remediation and notices are paused; recording
 * continues.
 *
 * @module
 */

import type { ScopedContainer } from "../auth/scope.ts";
import { type Target, targetHas } from "../target.ts";

/** Whether maintenance mode is on. Times are ISO 8601, UTC. */
export interface MaintenanceState {
  enabled: boolean;
  /** `null` while it is off. */
  since: string | null;
  /** When it ends automatically; `null` if a user has to end it. */
  until: string | null;
  reason: string | null;
}

/** The mode as set by a user. */
export interface StoredMaintenance extends Omit<MaintenanceState, "since"> {
  since?: string | null;
  /** When a user ended the windows of the host that were open; they open again at their next time. */
  windowsEndedAt?: string;
}

/** A recurring window. */
export interface MaintenanceWindow {
  target: Target;
  reason: string | null;
  /**
   * When the window opened and when it closes; `undefined` if it is not open.
   *
   * @param after Ignores openings at or before this time.
   */
  opening(now: Date, after?: Date): { since: Date; until: Date } | undefined;
}

export const NO_MAINTENANCE: MaintenanceState = {
  enabled: false,
  since: null,
  until: null,
  reason: null,
};

export type Maintenance = ReturnType<typeof createMaintenance>;

export function createMaintenance(
  now: () => Date,
  stored: { state: StoredMaintenance; windows: readonly MaintenanceWindow[] } = {
    state: NO_MAINTENANCE,
    windows: [],
  },
) {
  let { state, windows } = stored;
  const current = (): MaintenanceState => {
    const at = now();
    if (state.enabled && (state.until === null || at < new Date(state.until))) {
      return { ...NO_MAINTENANCE, ...state };
    }
    const endedAt = state.windowsEndedAt === undefined ? undefined : new Date(state.windowsEndedAt);
    for (const { target, reason, opening } of windows) {
      const open = target.kind === "host" ? opening(at, endedAt) : undefined;
      if (!open) continue;
      return {
        enabled: true,
        since: open.since.toISOString(),
        until: open.until.toISOString(),
        reason,
      };
    }
    return NO_MAINTENANCE;
  };
  return {
    /** The current state: off after `until`, on during a window of the host. */
    get state() {
      return current();
    },
    get active() {
      return current().enabled;
    },
    /** Whether it is active for a container: for the host, or in a window of the container. */
    includes: (container: ScopedContainer): boolean =>
      current().enabled ||
      windows.some(({ target, opening }) =>
        targetHas(target, container) && opening(now()) !== undefined
      ),
    /** Applies a state that was stored. */
    set: (next: StoredMaintenance): void => void (state = next),
    /** Applies the windows that were stored. */
    setWindows: (next: readonly MaintenanceWindow[]): void => void (windows = next),
  };
}
