/**
 * The secret part of a monitor, which is stored encrypted: the headers and the body of its requests,
 * and the address where that has secrets.
 *
 * @module
 */

import type { StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Secrets } from "../../secrets.ts";

export interface MonitorRequest {
  headers: Record<string, string>;
  body: string | null;
  /** The whole address; absent where the stored one has no secrets. */
  url?: string;
}

const purposeOf = (id: string) => `monitor ${id} request`;

/** @returns `null` where there is nothing to keep. */
export function sealRequest(secrets: Secrets, id: string, request: MonitorRequest): string | null {
  const { headers, body, url } = request;
  if (Object.keys(headers).length === 0 && body === null && url === undefined) return null;
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
