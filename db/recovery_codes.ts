/** The `recovery_codes` table: codes that replace a lost second factor, each usable once. @module */

import type { Database } from "./database.ts";

/** Replaces the codes of a user. */
export function replaceRecoveryCodes(
  db: Database,
  userId: string,
  hashes: readonly string[],
): void {
  deleteRecoveryCodes(db, userId);
  for (const codeHash of hashes) {
    db.run("INSERT INTO recovery_codes (user_id, code_hash) VALUES (:userId, :codeHash)", {
      userId,
      codeHash,
    });
  }
}

/** @returns Whether the code was unused; of two parallel calls only one gets `true`. */
export function updateRecoveryCodeUsed(
  db: Database,
  code: { userId: string; codeHash: string; usedAt: string },
): boolean {
  return db.run(
    `UPDATE recovery_codes SET used_at = :usedAt
     WHERE user_id = :userId AND code_hash = :codeHash AND used_at IS NULL`,
    code,
  ) > 0;
}

export function countUnusedRecoveryCodes(db: Database, userId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM recovery_codes WHERE user_id = :userId AND used_at IS NULL",
    { userId },
  )!.n;
}

export function deleteRecoveryCodes(db: Database, userId: string): void {
  db.run("DELETE FROM recovery_codes WHERE user_id = :userId", { userId });
}
