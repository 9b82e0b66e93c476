/**
 * The `crash_loops` table: the last exits of containers, and which containers are in a crash loop.
 *
 * @module
 */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const loops = table("crash_loops", {
  /** The name, which survives a replacement of the container. */
  container: text(),
  containerId: text(),
  /** Times of the last exits, oldest first. */
  exits: json<string[]>(),
  /** Exits since `since`. */
  exitCount: number(),
  /** When the crash loop began; `null` for a container that is not in one. */
  since: text<string | null>(),
  /** Whether it was stopped, or finished its task, and was not started since. */
  stopped: boolean(),
  /** The last exit, stop or start. */
  changedAt: text(),
}, { key: "container" });

/** Exits of a container. Times are ISO 8601, UTC. */
export type CrashLoop = Row<typeof loops>;

export const {
  /** The last exits of a container; `undefined` if it has none. */
  find: selectCrashLoop,
  /** Inserts a record, or replaces that of the container. */
  replace: replaceCrashLoop,
  delete: deleteCrashLoop,
} = loops;

/** Those without an exit or start since a time, with and without a crash loop. */
export function selectQuietCrashLoops(db: Database, changedAt: string): CrashLoop[] {
  return loops.select(db, "WHERE changed_at <= :changedAt ORDER BY container", { changedAt });
}

/** Ids of the containers that are in a crash loop and were not stopped since. */
export const selectCrashLooping = (db: Database): string[] =>
  loops.select(db, "WHERE since IS NOT NULL AND stopped = 0").map(({ containerId }) => containerId);

export function updateCrashLoop(db: Database, container: string, change: Partial<CrashLoop>): void {
  loops.update(db, container, change);
}

/** Counts the quiet time of all containers from a time on. */
export function updateCrashLoopsChangedAt(db: Database, changedAt: string): void {
  db.run("UPDATE crash_loops SET changed_at = :changedAt", { changedAt });
}

/** Moves the record of a container to its new name. */
export function renameCrashLoop(db: Database, names: { from: string; to: string }): void {
  db.run("UPDATE OR REPLACE crash_loops SET container = :to WHERE container = :from", names);
}
