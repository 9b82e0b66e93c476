/**
 * The `encryption_config` table, which has one row: encryption settings of the database file.
 *
 * @module
 */

import { boolean, number, singleRow, text } from "../columns.ts";
import type { Database } from "../database.ts";

export const CIPHER_ALGORITHMS = ["aes-256-cbc", "aes-256-gcm"] as const;

/** Bytes; the sizes that SQLite supports. */
export const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536] as const;

export const { read: selectEncryptionConfig, update: updateEncryptionConfig } = singleRow(
  "encryption_config",
  {
    enabled: boolean(),
    algorithm: text<(typeof CIPHER_ALGORITHMS)[number]>(),
    kdf_iterations: number(),
    page_size: number<(typeof PAGE_SIZES)[number]>(),
  },
);

export type EncryptionConfig = ReturnType<typeof selectEncryptionConfig>;

/** The version of SQLCipher in use; `undefined` for plain SQLite. */
export function selectCipherVersion(db: Database): string | undefined {
  // SQLite returns no row for an unknown pragma.
  const row = db.get<{ cipher_version?: string }>("PRAGMA cipher_version");
  return row?.cipher_version || undefined;
}
