/** Jobs on the repository of a target: check, forget, prune, unlock. @module */

import { updateBackupTargetFields } from "../../../db/backup_targets.ts";
import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { messageFor } from "../../errors.ts";
import { failInterrupted, JobEnd, type JobRun, type NamedJobKind } from "../../jobs/kind.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { CheckResult } from "../restic/check.ts";
import { forget, type KeepRules } from "../restic/forget.ts";
import type { PruneOptions, PruneResult } from "../restic/prune.ts";
import type { Snapshot } from "../restic/snapshot.ts";
import type { WorkerRepository } from "../restic/worker_repository.ts";
import { lockWait } from "../trees/lock_wait.ts";
import { isMadeHere, readTags } from "../trees/tags.ts";
import { openTargetRepository } from "./open.ts";
import { translated } from "./repository.ts";
import { assertIdle, neededSnapshots } from "./needed.ts";
import { requireTarget } from "./targets.ts";

interface TargetInput<Options> {
  /** Id of the target. */
  id: string;
  options: Options;
}

/** One of `of` equal parts of the packs is read, from 1; `null` reads none. */
export type CheckScope = { part: number; of: number } | null;

/** Keep rules, and the snapshots that they are for. */
export interface ForgetRequest extends KeepRules {
  /** Only those that schedules made of a stack, or of these paths, counted together. Default: all. */
  only?: { stack: string } | { paths: readonly string[] };
}

interface ForgetResult {
  kept: number;
  removed: number;
}

const COMMON = {
  group: "Backups",
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  // Finished parts stay so, and the next run does the rest.
  recover: failInterrupted,
} as const;

export const checkKind: NamedJobKind<TargetInput<CheckScope>, CheckResult> = {
  id: "backup.check",
  title: "Check a repository",
  running: "Checking {target}",
  steps: { check: "Read and compare" },
  ...COMMON,
  run: (deps, job) => job.step("check", () => checkRepository(deps, job)),
};

export const forgetKind: NamedJobKind<TargetInput<ForgetRequest>, ForgetResult> = {
  id: "backup.forget",
  title: "Forget snapshots",
  running: "Forgetting snapshots in {target}",
  steps: { forget: "Decide and remove" },
  ...COMMON,
  run: (deps, job) => job.step("forget", () => forgetSnapshots(deps, job)),
};

export const pruneKind: NamedJobKind<TargetInput<PruneOptions>, PruneResult> = {
  id: "backup.prune",
  title: "Prune a repository",
  running: "Pruning {target}",
  steps: { prune: "Remove what no snapshot needs" },
  ...COMMON,
  run: (deps, job) =>
    job.step("prune", () => {
      // Its lock would end what they do.
      assertIdle(deps, job.input.id);
      const options = { ...job.input.options, ...lockWait(job) };
      return withRepository(deps, job, (repository) => repository.prune(options, job.signal));
    }),
};

export const unlockKind: NamedJobKind<TargetInput<{ all: boolean }>, { removed: number }> = {
  id: "backup.unlock",
  title: "Unlock a repository",
  running: "Unlocking {target}",
  steps: { unlock: "Remove locks" },
  ...COMMON,
  run: (deps, job) =>
    job.step("unlock", () =>
      withRepository(deps, job, async (repository) => {
        const removed = await repository.unlock(job.input.options, job.signal);
        return { removed: removed.length };
      })),
};

/**
 * Starts a job on the repository of a target, of which only one runs at a time.
 *
 * @throws {AppError} `not_found`; `conflict` while another job uses it, or with too many jobs.
 */
export function startTargetJob<Options, Result>(
  deps: Deps,
  caller: Holder,
  kind: NamedJobKind<TargetInput<Options>, Result>,
  id: string,
  options: Options,
): JobView {
  const { name } = requireTarget(deps, id);
  return startJob(deps, kind, { target: `target ${name}`, input: { id, options }, caller }).job;
}

async function withRepository<Options, Result>(
  deps: Deps,
  { input: { id }, signal }: JobRun<TargetInput<Options>>,
  work: (repository: WorkerRepository) => Promise<Result>,
): Promise<Result> {
  using opened = await openTargetRepository(deps, id, signal);
  return await translated(() => work(opened.repository));
}

/** The target shows the outcome of its last check, also if that could not be finished. */
async function checkRepository(
  deps: Deps,
  job: JobRun<TargetInput<CheckScope>>,
): Promise<CheckResult> {
  const { input: { id, options: readData }, signal, progress } = job;
  const record = (problem: string | null) =>
    updateBackupTargetFields(deps.db, id, {
      lastCheckAt: deps.now().toISOString(),
      lastCheckError: problem,
    });
  let result: CheckResult;
  try {
    result = await withRepository(deps, job, (repository) =>
      repository.check({
        ...(readData && { readData }),
        ...lockWait(job),
        onProgress: (current, total) => progress({ current, total, message: null }),
      }, signal));
  } catch (error) {
    if (!signal.aborted) record(messageFor(deps.log, error, "check of a backup target failed"));
    throw error;
  }
  const { problemCount, problems } = result;
  record(problemCount === 0 ? null : describeProblems(problemCount, problems));
  if (problemCount === 0) return result;
  throw new JobEnd("failed", describeProblems(problemCount, problems), result);
}

const describeProblems = (count: number, [first]: readonly string[]) =>
  `${count} ${count === 1 ? "problem" : "problems"} found, the first: ${first}`;

/** Forgets snapshots that this host made only, and none that a job or an undo may still need. */
async function forgetSnapshots(
  deps: Deps,
  job: JobRun<TargetInput<ForgetRequest>>,
): Promise<ForgetResult> {
  const { only, ...rules } = job.input.options;
  const isIncluded = (snapshot: Snapshot) =>
    isMadeHere(deps, snapshot) && (only === undefined || isOfSchedule(snapshot, only));
  const plan = await withRepository(
    deps,
    job,
    (repository) =>
      forget(
        repository,
        rules,
        {
          isIncluded,
          mustStay: neededSnapshots(deps, job.input.id),
          now: deps.now(),
          ...lockWait(job),
          groupBy: only ? () => "" : groupOf,
        },
        job.signal,
      ),
  );
  return { kept: plan.kept.length, removed: plan.removed.length };
}

/**
 * Group of a snapshot of this server, also under an earlier name: those that updates and restores keep
 * take no place of a backup.
 */
function groupOf({ paths, tags }: Snapshot): string {
  const { reason } = readTags({ tags });
  return JSON.stringify([paths.toSorted(), reason === "update" || reason === "undo"]);
}

function isOfSchedule(snapshot: Snapshot, only: NonNullable<ForgetRequest["only"]>): boolean {
  const { reason, stack } = readTags(snapshot);
  if (reason !== "schedule") return false;
  if ("stack" in only) return stack === only.stack;
  const paths = new Set(only.paths);
  return snapshot.paths.length === paths.size && snapshot.paths.every((each) => paths.has(each));
}
