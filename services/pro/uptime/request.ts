/**
 * The parts of a monitor's request that are stored encrypted: headers, body, and the URL if it
 * contains secrets.
 *
 * @module
 */

import type { StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import { openOrConflict, type Secrets } from "../../secrets/secrets.ts";

export interface MonitorRequest {
  headers: Record<string, string>;
  body: string | null;
  /** The complete URL; absent if the stored one contains no secrets. */
  url?: string;
}

const purposeOf = (id: string) => `monitor ${id} request`;

/** @returns `null` if there is nothing to encrypt. */
export function sealRequest(secrets: Secrets, id: string, request: MonitorRequest): string | null {
  const { headers, body, url } = request;
  if (Object.keys(headers).length === 0 && body === null && url === undefined) return null;
  return secrets.seal(JSON.stringify(request), purposeOf(id));
}

/** @throws {SealError} If it was encrypted with another key. */
export function openRequest(
  secrets: Secrets,
  { id, sealed }: Pick<StoredMonitor, "id" | "sealed">,
): MonitorRequest {
  return sealed === null ? { headers: {}, body: null } : JSON.parse(
    secrets.open(sealed, purposeOf(id)),
  );
}

/** @throws {AppError} `conflict` if it was encrypted with another key. */
export function openRequestOrConflict(
  secrets: Secrets,
  monitor: Pick<StoredMonitor, "id" | "sealed">,
): MonitorRequest {
  return openOrConflict(
    () => openRequest(secrets, monitor),
    "delete the monitor and create it again",
  );
}
