/**
 * The `notification_problems` table: what began and did not end, as far as notifications have to
 * know of it.
 *
 * @module
 */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const problems = table("notification_problems", {
  /** The object that has the problem, e.g. `container web`. */
  key: text(),
  kind: text(),
  /** The key of the problem that it belongs to, or its own. */
  cause: text(),
  /** Names of the containers that it is about. */
  containers: json<string[]>(),
  /** The event with which it began. */
  event: json<object>(),
  openedAt: text(),
  endedAt: text<string | null>(),
}, { key: "key" });

/** One problem. Times are ISO 8601, UTC. */
export type NotificationProblem = Row<typeof problems>;

export const {
  find: selectProblem,
  /** Inserts a problem, or replaces the one with its key. */
  replace: replaceProblem,
  delete: deleteProblem,
} = problems;

/** The problems of any of the containers, oldest first. */
export function selectProblemsAbout(
  db: Database,
  containers: readonly string[],
): NotificationProblem[] {
  return problems.select(
    db,
    `WHERE EXISTS (
       SELECT 1 FROM json_each(notification_problems.containers) AS own
       JOIN json_each(:names) AS given ON given.value = own.value
     ) ORDER BY opened_at, key`,
    { names: JSON.stringify(containers) },
  );
}

/** The problems of these kinds that began before a time and have not ended. */
export const selectProblemsOfKinds = (
  db: Database,
  kinds: readonly string[],
  openedAt: string,
): NotificationProblem[] =>
  problems.select(
    db,
    `WHERE kind IN (SELECT value FROM json_each(:kinds)) AND opened_at < :openedAt
       AND ended_at IS NULL`,
    { kinds: JSON.stringify(kinds), openedAt },
  );

/** All problems that contain a text, e.g. the name of a container. */
export function selectProblemsWith(db: Database, text: string): NotificationProblem[] {
  return problems.select(db, "WHERE instr(cause || containers || event, :text)", { text });
}

/** Number of the problems whose keys begin with a text. */
export const countProblemsOf = (db: Database, prefix: string): number =>
  problems.countWhere(db, "WHERE substr(key, 1, length(:prefix)) = :prefix", { prefix });

export function updateProblemEnded(db: Database, key: string, endedAt: string): void {
  problems.update(db, key, { endedAt });
}

/** Assigns the problems of containers that began after a time to another cause. */
export function updateProblemsCause(
  db: Database,
  openedAt: string,
  cause: string,
  isMeant: (key: string) => boolean,
): void {
  const begun = problems.select(db, "WHERE opened_at >= :openedAt AND containers <> '[]'", {
    openedAt,
  });
  for (const { key } of begun) if (isMeant(key)) problems.update(db, key, { cause });
}

/** Deletes the problems of these kinds that belong to a cause. */
export function deleteProblemsOf(db: Database, cause: string, kinds: readonly string[]): void {
  db.run(
    `DELETE FROM notification_problems
     WHERE cause = :cause AND kind IN (SELECT value FROM json_each(:kinds))`,
    { cause, kinds: JSON.stringify(kinds) },
  );
}

/** Deletes the problems that began before a time. */
export function deleteProblemsBefore(db: Database, openedAt: string): void {
  db.run("DELETE FROM notification_problems WHERE opened_at < :openedAt", { openedAt });
}
