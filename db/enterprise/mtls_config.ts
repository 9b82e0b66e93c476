/**
 * The `mtls_config` table, which has one row: what is done with client certificates.
 *
 * @module
 */

import type { Database } from "../database.ts";

export interface MtlsConfig {
  /** Whether a client without a verified certificate is refused. */
  enforcement_enabled: boolean;
  /** Whether a certificate is refused that is valid and that no agent has. */
  reject_unknown_certs: boolean;
  /** Whether a certificate that no agent has is recorded as a disabled agent. */
  auto_enroll: boolean;
}

type Row = Record<keyof MtlsConfig, number>;

export function selectMtlsConfig(db: Database): MtlsConfig {
  const row = db.get<Row>(
    "SELECT enforcement_enabled, reject_unknown_certs, auto_enroll FROM mtls_config",
  )!;
  return {
    enforcement_enabled: row.enforcement_enabled === 1,
    reject_unknown_certs: row.reject_unknown_certs === 1,
    auto_enroll: row.auto_enroll === 1,
  };
}

export function updateMtlsConfig(db: Database, config: MtlsConfig): void {
  db.run(
    `UPDATE mtls_config
     SET enforcement_enabled = :enforcement_enabled,
       reject_unknown_certs = :reject_unknown_certs, auto_enroll = :auto_enroll`,
    {
      enforcement_enabled: Number(config.enforcement_enabled),
      reject_unknown_certs: Number(config.reject_unknown_certs),
      auto_enroll: Number(config.auto_enroll),
    },
  );
}
