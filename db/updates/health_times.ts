/**
 * The `health_times` table: the longest time that each container took from its start to healthy.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** Milliseconds; `undefined` if it was never seen. */
export function selectHealthTime(db: Database, containerName: string): number | undefined {
  return db.get<{ longestMs: number }>(
    "SELECT longest_ms AS longestMs FROM health_times WHERE container_name = :containerName",
    { containerName },
  )?.longestMs;
}

/** Stores a time, unless a longer one is known. */
export function raiseHealthTime(db: Database, containerName: string, ms: number): void {
  db.run(
    `INSERT INTO health_times (container_name, longest_ms) VALUES (:containerName, :ms)
     ON CONFLICT (container_name) DO UPDATE SET longest_ms = max(longest_ms, :ms)`,
    { containerName, ms },
  );
}

/** Moves the time of a container to its new name. */
export function renameHealthTime(db: Database, names: { from: string; to: string }): void {
  db.run("DELETE FROM health_times WHERE container_name = :to", { to: names.to });
  db.run("UPDATE health_times SET container_name = :to WHERE container_name = :from", names);
}
