/** Users whom identity providers name, in `oidc_identities` and `sso_identities`. @module */

import type { Database } from "./database.ts";

/** Whether a provider of either protocol has signed in the user, even if it was removed since. */
export function hasProviderIdentity(db: Database, userId: string): boolean {
  return db.get<{ has: number }>(
    `SELECT EXISTS (SELECT 1 FROM oidc_identities WHERE user_id = :userId)
       OR EXISTS (SELECT 1 FROM sso_identities WHERE user_id = :userId) AS has`,
    { userId },
  )!.has === 1;
}
