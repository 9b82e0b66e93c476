/** The `known_clients` table: networks and browsers from which users signed in. @module */

import type { Database } from "./database.ts";

/** One network and browser of a user. */
interface KnownClient {
  userId: string;
  /** An IPv4 address or a /64 of IPv6. */
  network: string;
  /** `User-Agent` without version numbers; may be empty. */
  browser: string;
}

/** Whether the user signed in from there, and whether from anywhere. */
export function selectKnownClient(
  db: Database,
  client: KnownClient,
): { isKnown: boolean; hasOthers: boolean } {
  const { known, others } = db.get<{ known: number; others: number }>(
    `SELECT count(*) FILTER (WHERE network = :network AND browser = :browser) AS known,
            count(*) AS others
       FROM known_clients WHERE user_id = :userId`,
    { ...client },
  )!;
  return { isKnown: known > 0, hasOthers: others > known };
}

/** Stores a sign-in, and deletes all but the `keep` newest clients of the user. */
export function upsertKnownClient(
  db: Database,
  client: KnownClient & { seenAt: string },
  keep: number,
): void {
  db.run(
    `INSERT INTO known_clients (user_id, network, browser, seen_at)
     VALUES (:userId, :network, :browser, :seenAt)
     ON CONFLICT (user_id, network, browser) DO UPDATE SET seen_at = excluded.seen_at`,
    { ...client },
  );
  db.run(
    `DELETE FROM known_clients WHERE user_id = :userId AND (network, browser) IN (
       SELECT network, browser FROM known_clients WHERE user_id = :userId
        ORDER BY seen_at DESC, network, browser LIMIT -1 OFFSET :keep)`,
    { userId: client.userId, keep },
  );
}

export function deleteKnownClientsOfUser(db: Database, userId: string): void {
  db.run("DELETE FROM known_clients WHERE user_id = :userId", { userId });
}
