/** Deletes old runs from a table with the columns `id`, `started_at` and `finished_at`. @module */

import type { Database } from "./database.ts";

/**
 * @param options.owner The column of what the runs belong to.
 * @param options.time The column that orders the runs of an owner.
 */
export function runRetention(table: string, { owner, time }: { owner: string; time: string }) {
  return {
    /** Deletes finished runs that started before `at`. @returns How many were deleted. */
    deleteBefore: (db: Database, at: string): number =>
      db.run(`DELETE FROM ${table} WHERE started_at < :at AND finished_at IS NOT NULL`, { at }),

    /** Deletes all but the newest runs of each owner. @returns How many were deleted. */
    deleteBeyond: (db: Database, keep: number): number =>
      db.run(
        `DELETE FROM ${table} WHERE finished_at IS NOT NULL AND id IN (
           SELECT id FROM (
             SELECT id, row_number() OVER (PARTITION BY ${owner} ORDER BY ${time} DESC) AS place
             FROM ${table}
           ) WHERE place > :keep
         )`,
        { keep },
      ),
  };
}
