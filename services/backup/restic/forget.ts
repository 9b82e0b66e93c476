/**
 * Rules by which snapshots are kept, with the meaning of restic's `forget`: a rule keeps the newest
 * snapshot of each of the last `n` hours, days, weeks or months that have any, by the time zone that
 * the snapshot was made in.
 *
 * @module
 */

import type { LockWait } from "./lock.ts";
import type { Repository } from "./repository.ts";
import { byTime, instantOf, type Snapshot } from "./snapshot.ts";

/** Numbers of snapshots to keep; -1 keeps all. */
export interface KeepRules {
  last?: number;
  hourly?: number;
  daily?: number;
  weekly?: number;
  monthly?: number;
  yearly?: number;
  /** Keeps all that are at most this much older than the newest one. */
  within?: { years?: number; months?: number; days?: number; hours?: number };
}

/** Snapshots that a rule is for. */
export interface ForgetOptions {
  /** Snapshots that are considered at all. */
  isIncluded?: (snapshot: Snapshot) => boolean;
  /** Snapshots with the same key are counted together; restic's default is host and paths. */
  groupBy?: (snapshot: Snapshot) => string;
  /** Snapshots that stay whatever the rules say, e.g. because an undo needs them. */
  mustStay?: (snapshot: Snapshot) => boolean;
}

/** Decision about snapshots. */
export interface ForgetPlan {
  kept: { snapshot: Snapshot; reasons: string[] }[];
  removed: Snapshot[];
}

/** Periods of counted rules; each snapshot of `last` is a period of its own. */
const PERIODS: [rule: "last" | Period, periodOf: (snapshot: Snapshot) => string][] = [
  ["last", ({ id }) => id],
  ["hourly", ({ time }) => time.slice(0, 13)],
  ["daily", ({ time }) => time.slice(0, 10)],
  ["weekly", ({ time }) => isoWeek(time.slice(0, 10))],
  ["monthly", ({ time }) => time.slice(0, 7)],
  ["yearly", ({ time }) => time.slice(0, 4)],
];

type Period = "hourly" | "daily" | "weekly" | "monthly" | "yearly";

/** Removes the snapshots that no rule keeps, with an exclusive lock. */
export async function forget(
  repository: Repository,
  rules: KeepRules,
  options: ForgetOptions & LockWait & { now: Date },
  signal: AbortSignal,
): Promise<ForgetPlan> {
  const plan = planForget(await repository.snapshots(signal), rules, options);
  if (plan.removed.length > 0) {
    await repository.removeSnapshots(plan.removed.map(({ id }) => id), signal, options);
  }
  return plan;
}

/** Decides which snapshots stay. Without any rule, all do. */
export function planForget(
  snapshots: readonly Snapshot[],
  rules: KeepRules,
  { isIncluded = () => true, groupBy = hostAndPaths, mustStay = () => false, now }:
    & ForgetOptions
    & { now: Date },
): ForgetPlan {
  const groups = Map.groupBy(snapshots.filter(isIncluded), groupBy);
  const plan: ForgetPlan = { kept: [], removed: [] };
  for (const group of groups.values()) {
    const newestFirst = group.toSorted(byTime).reverse();
    const reasons = hasRules(rules)
      ? keepReasons(newestFirst, rules, now)
      : newestFirst.map(() => ["no rules"]);
    for (const [i, snapshot] of newestFirst.entries()) {
      const all = [...reasons[i]!, ...(mustStay(snapshot) ? ["in use"] : [])];
      if (all.length > 0) plan.kept.push({ snapshot, reasons: all });
      else plan.removed.push(snapshot);
    }
  }
  return plan;
}

const hostAndPaths = ({ hostname, paths }: Snapshot) =>
  JSON.stringify([hostname, paths.toSorted()]);

const hasRules = ({ within = {}, ...counts }: KeepRules) =>
  [...Object.values(counts), ...Object.values(within)].some((value) => value !== 0);

/** Reasons to keep each snapshot; none for those to remove. */
function keepReasons(newestFirst: Snapshot[], rules: KeepRules, now: Date): string[][] {
  const reasons = newestFirst.map((): string[] => []);
  for (const [rule, periodOf] of PERIODS) {
    let left = rules[rule] ?? 0;
    let last: string | undefined;
    for (const [i, snapshot] of newestFirst.entries()) {
      if (left === 0) break;
      const period = periodOf(snapshot);
      if (period === last) continue;
      last = period;
      left -= left > 0 ? 1 : 0;
      reasons[i]!.push(rule);
    }
  }
  const oldest = oldestWithin(newestFirst, rules.within, now);
  for (const [i, snapshot] of newestFirst.entries()) {
    if (oldest !== undefined && instantOf(snapshot) > oldest) reasons[i]!.push("within");
  }
  return reasons;
}

function oldestWithin(
  newestFirst: Snapshot[],
  within: KeepRules["within"],
  now: Date,
): bigint | undefined {
  if (within === undefined || Object.values(within).every((value) => value === 0)) return undefined;
  const limit = BigInt(now.getTime()) * 1_000_000n;
  const newest = newestFirst.find((snapshot) => instantOf(snapshot) <= limit);
  if (newest === undefined) return undefined;
  const { years = 0, months = 0, days = 0, hours = 0 } = within;
  const time = instantOf(newest);
  const date = new Date(Number(time / 1_000_000n));
  date.setUTCFullYear(
    date.getUTCFullYear() - years,
    date.getUTCMonth() - months,
    date.getUTCDate() - days,
  );
  date.setUTCHours(date.getUTCHours() - hours);
  return BigInt(date.getTime()) * 1_000_000n + time % 1_000_000n;
}

/** Year and week of ISO 8601: the week of a day is in the year of its Thursday. */
function isoWeek(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + 4 - (date.getUTCDay() || 7));
  const year = date.getUTCFullYear();
  const days = (date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000;
  return `${year} ${Math.floor(days / 7) + 1}`;
}
