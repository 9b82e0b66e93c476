/**
 * Log lines that clients without an account can cause: enough to see what they try, but not so many
 * that they could fill the disk.
 *
 * @module
 */

import { type AnonymousQuota, createAnonymousQuota } from "./anonymous_quota.ts";
import type { Log, LogFields } from "../log.ts";

export type AnonymousLog = ReturnType<typeof createAnonymousLog>;

export function createAnonymousLog(log: Log, now: () => Date) {
  // By the message, so that one kind of line does not hide another.
  const quotas = new Map<string, AnonymousQuota>();
  const quotaOf = (message: string): AnonymousQuota => {
    const found = quotas.get(message) ?? createAnonymousQuota({ ofClient: 10, ofMinute: 300 });
    quotas.set(message, found);
    return found;
  };

  return {
    /**
     * Logs a warning within the quota of its message, and what the quota omitted in earlier minutes.
     *
     * @param message A constant; each one has a quota.
     */
    warn(message: string, { address, ...fields }: LogFields & { address: string }): void {
      const quota = quotaOf(message);
      const atMs = now().getTime();
      const omitted = quota.settle(atMs);
      if (omitted) {
        const { count, sinceMs, clients } = omitted;
        const since = new Date(sinceMs).toISOString();
        log.warn(`${message}: more not logged`, { count, since, clients });
      }
      if (quota.take(address, atMs)) log.warn(message, { ...fields, address });
    },
  };
}
