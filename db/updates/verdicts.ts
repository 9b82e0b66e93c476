/** The `update_verdicts` table: what this host has found out about new images, for its fleet. @module */

import { boolean, json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

const verdicts = table("update_verdicts", {
  id: text(),
  outcome: text<"success" | "failure">(),
  /** Of the manifest, or the image's id. */
  digest: text(),
  /** E.g. `linux/amd64`. */
  platform: text(),
  /** The reference. */
  image: text(),
  imageId: text(),
  containerName: text(),
  reason: text(),
  /** Lines of the container that failed. */
  log: json<string[]>(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  /** Whether this server, as a hub, has taken a failure into account. */
  isTaken: boolean(),
}, { order: "created_at DESC, id" });

export type UpdateVerdict = Row<typeof verdicts>;

/** Newest first. */
export const { all: selectUpdateVerdicts } = verdicts;

/** Failures that this server, as a hub, has not taken into account. Newest first. */
export const selectNewFailures = (db: Database): UpdateVerdict[] =>
  verdicts.select(
    db,
    "WHERE outcome = 'failure' AND is_taken = 0 ORDER BY created_at DESC, id",
  );

export function updateVerdictTaken(db: Database, id: string): void {
  verdicts.update(db, id, { isTaken: true });
}

/** Stores a verdict in place of earlier ones of the container and digest; the oldest beyond `max` end. */
export function insertUpdateVerdict(db: Database, verdict: UpdateVerdict, max: number): void {
  const { digest, containerName } = verdict;
  db.run(
    "DELETE FROM update_verdicts WHERE digest = :digest AND container_name = :containerName",
    { digest, containerName },
  );
  verdicts.insert(db, verdict);
  db.run(
    `DELETE FROM update_verdicts WHERE id NOT IN
       (SELECT id FROM update_verdicts ORDER BY created_at DESC, id LIMIT :max)`,
    { max },
  );
}
