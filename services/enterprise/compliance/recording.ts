/**
 * Records requests in the compliance log before the response is sent: writes, logins and denials of
 * every edition, and reads if configured.
 *
 * @module
 */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import type { AnonymousQuota, Omitted } from "../../access/anonymous_quota.ts";
import { isDenial } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import type { Observation } from "../../access/policy.ts";
import { errorFields } from "../../log.ts";
import { ANONYMOUS, type NewEntry, OWN_ENTRY, recordEntry } from "./append.ts";
import { isAuthentication, isFailedLogin, observedEntry } from "./observed_entry.ts";

type RecordingDeps = Pick<Deps, "compliance" | "db" | "log" | "now">;

/**
 * Records a request if the settings require it. A failure (e.g. a full disk) is logged and does not
 * undo the request.
 *
 * @returns When the entry is on the disk.
 */
export function recordObservation(
  deps: RecordingDeps,
  observation: Observation,
): void | Promise<void> {
  const entries = [...pastSummaries(deps), ...entriesOf(deps, observation)];
  if (entries.length > 0) return recordEntries(deps, entries);
}

/** Records how many anonymous requests were omitted in past minutes. */
export async function recordOmitted(deps: RecordingDeps): Promise<void> {
  await recordEntries(deps, pastSummaries(deps));
}

/** Records the omitted requests including those of the current minute, when the service stops. */
export async function recordLastOmitted(deps: RecordingDeps): Promise<void> {
  await recordEntries(deps, summaries(deps, (quota) => quota.end()));
}

function entriesOf(deps: RecordingDeps, observation: Observation): NewEntry[] {
  const { actor, address, caller, method, outcome, path, status } = observation;
  const isDenied = isDenial(status, caller?.scope);
  const isLogin = outcome === "success" && isAuthentication(path);
  const isAnonymous = actor === undefined && !isLogin && (caller?.role ?? "public") === "public";
  const isRead = (method === "GET" || method === "HEAD") && observation.phase === undefined;
  const config = readConfig(deps);
  if (!config?.enabled) return [];
  // Public reads have no actor to hold responsible.
  if (isRead && !isDenied && (isAnonymous || !config.log_api_reads)) return [];
  if (isAnonymous) {
    const { logins, others } = deps.compliance.quotas;
    const quota = isFailedLogin(observation) ? logins : others;
    if (!quota.take(address, deps.now().getTime())) return [];
  }
  return [observedEntry(observation)];
}

/** Returns the settings; `undefined` if the database cannot be read. */
function readConfig({ db, log }: RecordingDeps) {
  try {
    return selectComplianceConfig(db);
  } catch (error) {
    log.error("compliance settings cannot be read", errorFields(error));
    return undefined;
  }
}

async function recordEntries(deps: RecordingDeps, entries: readonly NewEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => recordEntry(deps, entry)));
}

function pastSummaries(deps: RecordingDeps): NewEntry[] {
  const atMs = deps.now().getTime();
  return summaries(deps, (quota) => quota.settle(atMs));
}

function summaries(
  deps: RecordingDeps,
  omittedOf: (quota: AnonymousQuota) => Omitted | undefined,
): NewEntry[] {
  const { logins, others } = deps.compliance.quotas;
  const entries = [
    summary("logins.unlisted", "failed logins", omittedOf(logins)),
    summary("requests.unlisted", "anonymous requests", omittedOf(others)),
  ].filter((entry) => entry !== undefined);
  return entries.length > 0 && readConfig(deps)?.enabled ? entries : [];
}

function summary(action: string, noun: string, omitted: Omitted | undefined): NewEntry | undefined {
  if (!omitted) return undefined;
  const { count, clients } = omitted;
  const since = new Date(omitted.sinceMs).toISOString();
  return {
    ...OWN_ENTRY,
    category: action === "logins.unlisted" ? "authentication" : "authorization",
    severity: "warning",
    actor_id: ANONYMOUS,
    actor_type: "user",
    action,
    resource_type: null,
    detail: `${count} more ${noun} since ${since} were counted, not listed`,
    outcome: "failure",
    metadata: { count, since, addresses: clients },
  };
}
