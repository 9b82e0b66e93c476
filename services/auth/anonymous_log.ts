/**
 * Log lines that clients without an account can cause: enough to see what they try, but not so many
 * that they could fill the disk.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { type AnonymousQuota, createAnonymousQuota } from "./anonymous_quota.ts";
import type { Deps } from "../deps.ts";
import type { LogFields } from "../log.ts";

/** By the message, so that one kind of line does not hide another. */
const quotas = new WeakMap<StateDatabase, Map<string, AnonymousQuota>>();

/**
 * Logs a warning within the quota of its message, and what the quota omitted in earlier minutes.
 *
 * @param message A constant; each one has a quota.
 */
export function warnAnonymous(
  { db, log, now }: Pick<Deps, "db" | "log" | "now">,
  message: string,
  { address, ...fields }: LogFields & { address: string },
): void {
  const quota = quotaOf(db, message);
  const atMs = now().getTime();
  const omitted = quota.settle(atMs);
  if (omitted) {
    const { count, sinceMs, clients } = omitted;
    const since = new Date(sinceMs).toISOString();
    log.warn(`${message}: more not logged`, { count, since, clients });
  }
  if (quota.take(address, atMs)) log.warn(message, { ...fields, address });
}

function quotaOf(db: StateDatabase, message: string): AnonymousQuota {
  const ofDatabase = quotas.get(db) ?? new Map<string, AnonymousQuota>();
  quotas.set(db, ofDatabase);
  const found = ofDatabase.get(message) ?? createAnonymousQuota({ ofClient: 10, ofMinute: 300 });
  ofDatabase.set(message, found);
  return found;
}
