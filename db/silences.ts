/** The `silences` table: which events cause no messages to people for some time. @module */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Severity } from "./notification_channels.ts";

/** Every given part has to match. Texts are patterns, in which `*` stands for any text. */
export interface SilenceMatchers {
  /** A kind, e.g. `container.*`. */
  event?: string | undefined;
  /** The name of a container. */
  container?: string | undefined;
  /** The name of a compose project or swarm stack. */
  stack?: string | undefined;
  /** The id or name of an alert or remediation rule. */
  rule?: string | undefined;
  severity?: Severity | undefined;
}

const silences = table("silences", {
  id: text(),
  matchers: json<SilenceMatchers>(),
  startsAt: text(),
  endsAt: text(),
  comment: text(),
  /** Id of the user. */
  createdBy: text(),
  createdAt: text(),
}, { order: "ends_at DESC, id" });

/** One silence as stored. Times are ISO 8601, UTC. */
export type StoredSilence = Row<typeof silences>;

export const {
  find: selectSilence,
  insert: insertSilence,
  save: updateSilence,
  delete: deleteSilence,
  /** All silences; the one that ends last comes first. */
  all: selectSilences,
} = silences;

/** The silences in force at a time. */
export function selectActiveSilences(db: Database, at: string): StoredSilence[] {
  return silences.select(db, "WHERE ends_at > :at AND starts_at <= :at", { at });
}

/** Silences that have not ended at a time. */
export function countOpenSilences(db: Database, at: string): number {
  return silences.countWhere(db, "WHERE ends_at > :at", { at });
}

export function deleteSilencesBefore(db: Database, endsAt: string): void {
  db.run("DELETE FROM silences WHERE ends_at < :endsAt", { endsAt });
}

/** Deletes the silences that ended before a time, except those that ended last. */
export function deleteEndedSilencesBeyond(db: Database, at: string, kept: number): void {
  db.run(
    `DELETE FROM silences WHERE id IN (
       SELECT id FROM silences WHERE ends_at <= :at ORDER BY ends_at DESC LIMIT -1 OFFSET :kept
     )`,
    { at, kept },
  );
}
