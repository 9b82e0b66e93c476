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
  const user = userOf(deps, targetId);
  if (user) throw new AppError("conflict", `A job uses the target: ${user.kind} of ${user.target}`);
}

const userOf = ({ db }: Pick<Deps, "db">, targetId: string): Job | undefined =>
  selectUnfinishedJobs(db).find(({ input }) =>
    (input as { targetId?: unknown } | null)?.targetId === targetId
  );

/**
 * Returns whether a rule must not remove a snapshot: the data that a rollback can bring back, what
 * updates have kept until a day, and all of both while a job uses the target. What a restore has
 * replaced has no day, because only people delete it.
 */
export function neededSnapshots(
  deps: Pick<Deps, "db" | "now">,
  targetId: string,
): (snapshot: Snapshot) => boolean {
  const today = deps.now().toISOString().slice(0, 10);
  const isInUse = userOf(deps, targetId) !== undefined;
  const kept = new Set(
    selectKeptData(deps.db).filter((data) => data.targetId === targetId)
      .map(({ snapshot }) => snapshot),
  );
  return (snapshot) => {
    const { reason, keptUntil } = readTags(snapshot);
    if (reason !== "update" && reason !== "undo") return false;
    return isInUse || kept.has(snapshot.id) || keptUntil === null || keptUntil >= today;
  };
}
