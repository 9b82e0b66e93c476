/**
 * The secret part of a monitor: the headers and the body that its requests carry, which are stored
 * encrypted.
 *
 * @module
 */

import type { StoredMonitor } from "../../db/pro/uptime_monitors.ts";
import type { Secrets } from "../secrets.ts";

export interface MonitorRequest {
  headers: Record<string, string>;
  body: string | null;
}

const purposeOf = (id: string) => `monitor ${id} request`;

/** @returns `null` where there is nothing to keep. */
export function sealRequest(secrets: Secrets, id: string, request: MonitorRequest): string | null {
  if (Object.keys(request.headers).length === 0 && request.body === null) return null;
  return secrets.seal(JSON.stringify(request), purposeOf(id));
}

/** @throws {SealError} When it was encrypted with another key. */
export function openRequest(
  secrets: Secrets,
  { id, sealed }: Pick<StoredMonitor, "id" | "sealed">,
): MonitorRequest {
  return sealed === null ? { headers: {}, body: null } : JSON.parse(
    secrets.open(sealed, purposeOf(id)),
  );
}
