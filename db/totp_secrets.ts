/** The `totp_secrets` table: authenticator apps of accounts, one for each account. @module */

import { number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const secrets = table("totp_secrets", {
  userId: text(),
  /** Sealed. */
  secret: text(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  /** `null` before the first right code; it is not a second factor until then. */
  confirmedAt: text<string | null>(),
  /** Step of the last accepted code. */
  lastStep: number(),
}, { key: "userId" });

export type TotpSecret = Row<typeof secrets>;

export const {
  find: selectTotpSecret,
  replace: replaceTotpSecret,
  delete: deleteTotpSecret,
} = secrets;

/**
 * Marks a code as used, together with all earlier ones.
 *
 * @returns `false` if it was used already, or the secret was replaced.
 */
export function updateTotpStep(
  db: Database,
  { userId, secret }: Pick<TotpSecret, "userId" | "secret">,
  step: number,
): boolean {
  return db.run(
    `UPDATE totp_secrets SET last_step = :step
     WHERE user_id = :userId AND secret = :secret AND last_step < :step`,
    { userId, secret, step },
  ) > 0;
}

export function updateTotpConfirmed(db: Database, userId: string, confirmedAt: string): void {
  secrets.update(db, userId, { confirmedAt });
}
