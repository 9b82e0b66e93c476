/**
 * The `encryption_config` table, which has one row: how the database file is to be encrypted.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const CIPHER_ALGORITHMS = ["aes-256-cbc", "aes-256-gcm"] as const;

/** Bytes; SQLite's own bounds. */
export const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536] as const;

export interface EncryptionConfig {
  enabled: boolean;
  algorithm: (typeof CIPHER_ALGORITHMS)[number];
  kdf_iterations: number;
  page_size: (typeof PAGE_SIZES)[number];
}

type Row = Omit<EncryptionConfig, "enabled"> & { enabled: number };

export function selectEncryptionConfig(db: Database): EncryptionConfig {
  const row = db.get<Row>(
    "SELECT enabled, algorithm, kdf_iterations, page_size FROM encryption_config",
  )!;
  return { ...row, enabled: row.enabled === 1 };
}

export function updateEncryptionConfig(db: Database, config: EncryptionConfig): void {
  db.run(
    `UPDATE encryption_config
     SET enabled = :enabled, algorithm = :algorithm, kdf_iterations = :kdf_iterations,
       page_size = :page_size`,
    { ...config, enabled: Number(config.enabled) },
  );
}

/** The version of SQLCipher that opened the database; `undefined` for SQLite without it. */
export function selectCipherVersion(db: Database): string | undefined {
  // SQLite answers nothing to a pragma that it does not know.
  const row = db.get<{ cipher_version?: string }>("PRAGMA cipher_version");
  return row?.cipher_version || undefined;
}
