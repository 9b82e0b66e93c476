/**
 * The parts of all jobs that one API token and one account may have, so that neither keeps the jobs of
 * others waiting.
 *
 * @module
 */

import type { Job } from "../../db/jobs.ts";
import { isAutomatic } from "../access/automatic.ts";
import { keysOf } from "../access/shares.ts";

/** The account and the API token that a job was created with. */
export type JobOwner = Pick<Job, "createdBy" | "tokenId">;

/** Limits of a number of jobs. */
export interface JobLimits {
  all: number;
  /** Of one API token, of the logins of one account, and of the service itself. */
  single: number;
  /** Of one account with all of its API tokens. */
  account: number;
}

/** Returns why another job of the owner is above the limits; `undefined` if it is not. */
export function limitReached(
  owner: JobOwner,
  others: Iterable<JobOwner>,
  limits: JobLimits,
): { max: number; whose: string } | undefined {
  const [single, account] = partsOf(owner);
  const counts = { all: 0, single: 0, account: 0 };
  for (const other of others) {
    const [otherSingle, otherAccount] = partsOf(other);
    counts.all++;
    if (otherSingle === single) counts.single++;
    if (otherAccount === account) counts.account++;
  }
  if (counts.all >= limits.all) return { max: limits.all, whose: "" };
  if (counts.single >= limits.single) {
    return { max: limits.single, whose: " of these logins or this API token" };
  }
  if (counts.account >= limits.account) return { max: limits.account, whose: " of this account" };
}

/** Schedules, automatic updates and remediation count as one account. */
function partsOf({ createdBy, tokenId }: JobOwner): [single: string, account: string] {
  if (isAutomatic(createdBy)) return ["service", "service"];
  return keysOf({ userId: createdBy, ...(tokenId !== null && { apiToken: { id: tokenId } }) });
}
