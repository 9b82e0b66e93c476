/** Stored uptime monitors, for tests of calculations on them. @module */

import type { StoredMonitor } from "../../db/pro/uptime/monitors.ts";

/** A monitor of a TCP port that is checked each minute and is down after the first failure. */
export function storedMonitor(
  { id, createdAt, ...changes }:
    & Pick<StoredMonitor, "id" | "createdAt">
    & Partial<StoredMonitor>,
): StoredMonitor {
  return {
    id,
    name: id,
    type: "tcp",
    url: "192.0.2.7:443",
    method: null,
    expectedStatus: null,
    keyword: null,
    recordType: null,
    expected: null,
    timeoutMs: 5_000,
    intervalSeconds: 60,
    retries: 0,
    sealed: null,
    autoIncident: false,
    paused: false,
    status: "pending",
    createdAt,
    updatedAt: createdAt,
    ...changes,
  };
}
