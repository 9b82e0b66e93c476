/**
 * The compliance log of requests: every write, login and denial of every edition, and every read
 * where that is configured, is recorded before the response is sent.
 *
 * @module
 */

import type { StateDatabase } from "../../../db/database.ts";
import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import {
  type AnonymousQuota,
  createAnonymousQuota,
  type Omitted,
} from "../../auth/anonymous_quota.ts";
import type { Deps } from "../../deps.ts";
import type { Observation } from "../../access_policy.ts";
import { errorFields } from "../../log.ts";
import { type NewEntry, recordEntry, STRANGER } from "./append.ts";
import { isAuthentication, isFailedLogin, observedEntry } from "./observed_entry.ts";

export type RecordingDeps = Pick<Deps, "db" | "log" | "now">;

/** What is recorded of callers without a valid token. */
interface Quotas {
  /** Failed logins have their own quota, so that other requests cannot hide them. */
  logins: AnonymousQuota;
  others: AnonymousQuota;
}

const quotas = new WeakMap<StateDatabase, Quotas>();

/**
 * Records a request, if it is one to record. A failure (the disk is full) is logged and does not
 * undo the request.
 *
 * @returns When the entry is on the disk.
 */
export function recordObservation(
  deps: RecordingDeps,
  observation: Observation,
): void | Promise<void> {
  const entries = [...settled(deps), ...entriesOf(deps, observation)];
  if (entries.length > 0) return write(deps, entries);
}

/** Records how many anonymous requests were omitted in earlier minutes. */
export async function recordOmitted(deps: RecordingDeps): Promise<void> {
  await write(deps, settled(deps));
}

/** The same when the service stops, including the current minute. */
export async function recordLastOmitted(deps: RecordingDeps): Promise<void> {
  await write(deps, summaries(deps, (quota) => quota.end()));
}

function entriesOf(deps: RecordingDeps, observation: Observation): NewEntry[] {
  const { actor, address, caller, method, outcome, path, status } = observation;
  const isDenied = status === 401 || status === 403;
  const hasComeIn = outcome === "success" && isAuthentication(path);
  const isAnonymous = actor === undefined && !hasComeIn && (caller?.role ?? "public") === "public";
  const isRead = method === "GET" || method === "HEAD";
  const config = read(deps);
  if (!config?.enabled) return [];
  // Public reads have no actor.
  if (isRead && !isDenied && (isAnonymous || !config.log_api_reads)) return [];
  if (isAnonymous) {
    const { logins, others } = quotasOf(deps);
    const quota = isFailedLogin(observation) ? logins : others;
    if (!quota.take(address, deps.now().getTime())) return [];
  }
  return [observedEntry(observation)];
}

/** The configuration; `undefined` where the database does not even give that. */
function read({ db, log }: RecordingDeps) {
  try {
    return selectComplianceConfig(db);
  } catch (error) {
    log.error("compliance log cannot be read", errorFields(error));
    return undefined;
  }
}

async function write(deps: RecordingDeps, entries: readonly NewEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => recordEntry(deps, entry)));
}

function settled(deps: RecordingDeps): NewEntry[] {
  const atMs = deps.now().getTime();
  return summaries(deps, (quota) => quota.settle(atMs));
}

function summaries(
  deps: RecordingDeps,
  omittedOf: (quota: AnonymousQuota) => Omitted | undefined,
): NewEntry[] {
  const { logins, others } = quotasOf(deps);
  const entries = [
    summary("logins.unlisted", "failed logins", omittedOf(logins)),
    summary("requests.unlisted", "anonymous requests", omittedOf(others)),
  ].filter((entry) => entry !== undefined);
  return entries.length > 0 && read(deps)?.enabled ? entries : [];
}

function summary(action: string, what: string, omitted: Omitted | undefined): NewEntry | undefined {
  if (!omitted) return undefined;
  const { count, clients } = omitted;
  const since = new Date(omitted.sinceMs).toISOString();
  return {
    category: action === "logins.unlisted" ? "authentication" : "authorization",
    severity: "warning",
    actor_id: STRANGER,
    actor_type: "user",
    action,
    resource_type: null,
    resource_id: null,
    detail: `${count} more ${what} since ${since} were counted, not listed`,
    outcome: "failure",
    metadata: { count, since, addresses: clients },
    recorded_by: null,
  };
}

function quotasOf({ db }: RecordingDeps): Quotas {
  let found = quotas.get(db);
  if (!found) {
    found = {
      logins: createAnonymousQuota({ ofClient: 100, ofMinute: 2_000 }),
      others: createAnonymousQuota({ ofClient: 10, ofMinute: 600, ofDay: 20_000 }),
    };
    quotas.set(db, found);
  }
  return found;
}
