/**
 * The compliance log of requests: every write, login and denial of every edition, and where that is
 * wanted every read, is written down before the answer goes out.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { selectComplianceConfig } from "../../db/enterprise/compliance_config.ts";
import type { Deps } from "../deps.ts";
import type { Observation } from "../guard.ts";
import { errorFields } from "../log.ts";
import { type NewEntry, recordEntry, STRANGER } from "./compliance_append.ts";
import { isAuthentication, observedEntry } from "./observed_entry.ts";
import { createStrangerBudget, type StrangerBudget, type Unlisted } from "./stranger_budget.ts";

export type RecordingDeps = Pick<Deps, "db" | "log" | "now">;

const budgets = new WeakMap<StateDatabase, StrangerBudget>();

/**
 * Writes an entry about a request, if it is one to write about. What cannot be written (the disk is
 * full) is told in the log, and does not undo what was done.
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

/** Writes how much of what strangers tried was left out in the minutes that are over. */
export async function recordUnlisted(deps: RecordingDeps): Promise<void> {
  await write(deps, settled(deps));
}

/** The same at the end of the service, of this minute too. */
export async function recordLastUnlisted(deps: RecordingDeps): Promise<void> {
  await write(deps, unlisted(deps, budgetOf(deps).end()));
}

function entriesOf(deps: RecordingDeps, observation: Observation): NewEntry[] {
  const { actor, address, caller, method, outcome, path, status } = observation;
  const isDenied = status === 401 || status === 403;
  const hasComeIn = outcome === "success" && isAuthentication(path);
  const isStranger = actor === undefined && !hasComeIn && (caller?.role ?? "public") === "public";
  const isRead = method === "GET" || method === "HEAD";
  const config = read(deps);
  if (!config?.enabled) return [];
  // What everybody may read is nobody's deed.
  if (isRead && !isDenied && (isStranger || !config.log_api_reads)) return [];
  if (isStranger && !budgetOf(deps).take(address, deps.now().getTime())) return [];
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
  return unlisted(deps, budgetOf(deps).settle(deps.now().getTime()));
}

function unlisted(deps: RecordingDeps, left: Unlisted | undefined): NewEntry[] {
  if (!left || !read(deps)?.enabled) return [];
  const since = new Date(left.sinceMs).toISOString();
  return [{
    category: "authorization",
    severity: "warning",
    actor_id: STRANGER,
    actor_type: "user",
    action: "requests.unlisted",
    resource_type: null,
    resource_id: null,
    detail: `${left.count} more requests of strangers since ${since} were counted, not listed`,
    outcome: "failure",
    metadata: { count: left.count, since },
    recorded_by: null,
  }];
}

function budgetOf({ db }: RecordingDeps): StrangerBudget {
  let budget = budgets.get(db);
  if (!budget) budgets.set(db, budget = createStrangerBudget());
  return budget;
}
