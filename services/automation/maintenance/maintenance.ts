/**
 * Maintenance mode and recurring windows: alerts, remediation and notices are paused; recording
 * continues.
 *
 * @module
 */

import type { ScopedContainer } from "../../access/scope.ts";
import { type Target, targetHas } from "../../access/target.ts";

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
  opening(now: Date, after?: Date): WindowOpening | undefined;
}

export interface WindowOpening {
  since: Date;
  /** Computed when it is read, because every event asks whether a window is open. */
  readonly until: Date;
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
  const isSet = (at: Date) => state.enabled && (state.until === null || at < new Date(state.until));
  /** The windows of the host that are open. */
  const openWindows = (at: Date) => {
    const endedAt = state.windowsEndedAt === undefined ? undefined : new Date(state.windowsEndedAt);
    return windows.flatMap(({ target, reason, opening }) => {
      const open = target.kind === "host" ? opening(at, endedAt) : undefined;
      return open ? [{ reason, open }] : [];
    });
  };
  const current = (): MaintenanceState => {
    const at = now();
    if (isSet(at)) return { ...NO_MAINTENANCE, ...state };
    const opened = openWindows(at);
    if (opened.length === 0) return NO_MAINTENANCE;
    const times = (key: keyof WindowOpening) => opened.map(({ open }) => open[key].getTime());
    return {
      enabled: true,
      since: new Date(Math.min(...times("since"))).toISOString(),
      until: new Date(Math.max(...times("until"))).toISOString(),
      reason: opened[0]!.reason,
    };
  };
  const isActive = (at = now()) => isSet(at) || openWindows(at).length > 0;
  return {
    /** The current state: off after `until`, on during a window of the host. */
    get state() {
      return current();
    },
    get active() {
      return isActive();
    },
    /** Whether it is active for a container: for the host, or in a window of the container. */
    includes: (container: ScopedContainer): boolean =>
      isActive() ||
      windows.some(({ target, opening }) =>
        targetHas(target, container) && opening(now()) !== undefined
      ),
    /** Applies a state that was stored. */
    set: (next: StoredMaintenance): void => void (state = next),
    /** Applies the windows that were stored. */
    setWindows: (next: readonly MaintenanceWindow[]): void => void (windows = next),
  };
}
