/**
 * The tables of sign-ins at identity providers that were begun, `oidc_requests` and `saml_requests`:
 * what they have in common.
 *
 * @module
 */

import type { Database } from "./database.ts";

export type BegunSignIns = "oidc_requests" | "saml_requests";

export const countBegunSignIns = (db: Database, table: BegunSignIns): number =>
  db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)!.count;

/** Ids, and the address groups of the clients, oldest first. */
export const selectClientsOfSignIns = (db: Database, table: BegunSignIns) =>
  db.all<{ id: string; client: string }>(
    `SELECT id, client FROM ${table} ORDER BY expires_at, id`,
  );

export function deleteBegunSignIns(db: Database, table: BegunSignIns, ids: string[]): void {
  db.run(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(:ids))`, {
    ids: JSON.stringify(ids),
  });
}
