/**
 * Log lines about addresses that the IP allowlist refused: enough to see which, but not so many
 * that they could fill the disk.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { type AnonymousQuota, createAnonymousQuota } from "../anonymous_quota.ts";
import type { Deps } from "../deps.ts";

const quotas = new WeakMap<StateDatabase, AnonymousQuota>();

/** Logs a refusal within the quota, and what the quota omitted in earlier minutes. */
export function logDenial(
  { db, log, now }: Pick<Deps, "db" | "log" | "now">,
  address: string,
  userId: string | undefined,
): void {
  let quota = quotas.get(db);
  if (!quota) quotas.set(db, quota = createAnonymousQuota({ ofClient: 10, ofMinute: 300 }));
  const atMs = now().getTime();
  const omitted = quota.settle(atMs);
  if (omitted) {
    const { count, sinceMs, clients } = omitted;
    log.warn("more addresses refused", { count, since: new Date(sinceMs).toISOString(), clients });
  }
  if (quota.take(address, atMs)) {
    log.warn("address refused", { address, ...(userId && { userId }) });
  }
}
