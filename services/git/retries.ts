/** Times of the next attempts after failed fetches. @module */

import type { GitRepository } from "../../db/git_repositories.ts";

const MINUTE_MS = 60_000;
const WAIT_MS_MAX = 60 * MINUTE_MS;

/** Doubles the last wait, from a minute to an hour: a refused pack may have 64 MiB. */
export function nextRetry(
  { checkedAt, retryAt }: Pick<GitRepository, "checkedAt" | "retryAt">,
  now: Date,
): string {
  const last = checkedAt === null || retryAt === null
    ? 0
    : Date.parse(retryAt) - Date.parse(checkedAt);
  const wait = Math.min(Math.max(2 * last, MINUTE_MS), WAIT_MS_MAX);
  return new Date(now.getTime() + wait).toISOString();
}
