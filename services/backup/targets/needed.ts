/** Targets and snapshots that updates and restores may still need. @module */

import { type Job, selectUnfinishedJobs } from "../../../db/jobs.ts";
import { selectKeptData } from "../../../db/updates/previous.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Snapshot } from "../restic/snapshot.ts";
import { readTags } from "../trees/tags.ts";

/**
 * A snapshot that a job has kept may be needed after a restart.
 *
 * @throws {AppError} `conflict` while a job uses the target.
 */
export function assertIdle(deps: Pick<Deps, "db">, targetId: string): void {
  const [user] = usersOf(deps, targetId);
  if (user) throw new AppError("conflict", `A job uses the target: ${user.kind} of ${user.target}`);
}

/** The unfinished jobs that use a target. */
const usersOf = ({ db }: Pick<Deps, "db">, targetId: string): Job[] =>
  selectUnfinishedJobs(db).filter((job) => usesTarget(job, targetId));

/** Fields of inputs with targets; the rollback of a stack has one for each container. */
interface TargetInput {
  targetId?: unknown;
  previous?: { data?: { targetId?: unknown } | null }[] | null;
}

/** Whether a job reads or writes snapshots of a target. */
export function usesTarget({ input }: Pick<Job, "input">, targetId: string): boolean {
  const { targetId: used, previous } = (input ?? {}) as TargetInput;
  return used === targetId ||
    (Array.isArray(previous) && previous.some(({ data }) => data?.targetId === targetId));
}

/**
 * Returns whether a rule must not remove a snapshot: the data that a rollback can bring back, what
 * updates have kept until a day, all of both while a job uses the target, and the one that a job restores.
 * Data that a restore has replaced has no day, because only people delete it.
 */
export function neededSnapshots(
  deps: Pick<Deps, "db" | "now">,
  targetId: string,
): (snapshot: Snapshot) => boolean {
  const today = deps.now().toISOString().slice(0, 10);
  const users = usersOf(deps, targetId);
  const read = new Set(users.map(({ input }) => (input as { snapshot?: unknown }).snapshot));
  const kept = new Set(
    selectKeptData(deps.db).filter((data) => data.targetId === targetId)
      .map(({ snapshot }) => snapshot),
  );
  return (snapshot) => {
    if (read.has(snapshot.id)) return true;
    const { reason, keptUntil } = readTags(snapshot);
    if (reason !== "update" && reason !== "undo") return false;
    return users.length > 0 || kept.has(snapshot.id) || keptUntil === null || keptUntil >= today;
  };
}
