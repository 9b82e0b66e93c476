/** The second factors of an account, in `totp_secrets` and `passkeys`. @module */

import type { Database } from "./database.ts";

/** Whether an account has a confirmed authenticator app or a passkey. */
export function hasSecondFactor(db: Database, userId: string): boolean {
  return db.get<{ has: number }>(
    `SELECT EXISTS (
       SELECT 1 FROM totp_secrets WHERE user_id = :userId AND confirmed_at IS NOT NULL
     ) OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = :userId) AS has`,
    { userId },
  )!.has === 1;
}
