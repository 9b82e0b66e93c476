/**
 * The `mtls_config` table, which has one row: what is done with client certificates.
 *
 * @module
 */

import type { Database } from "../database.ts";

export interface MtlsConfig {
  /** Whether a certificate that is not verified is refused. */
  enforcementEnabled: boolean;
  /** Whether that goes for one that nobody knows, too. */
  rejectUnknownCerts: boolean;
  /** Whether one that nobody knows is recorded. */
  autoEnroll: boolean;
}

type Row = Record<keyof MtlsConfig, number>;

export function selectMtlsConfig(db: Database): MtlsConfig {
  const row = db.get<Row>(
    `SELECT enforcement_enabled AS enforcementEnabled, reject_unknown_certs AS rejectUnknownCerts,
       auto_enroll AS autoEnroll
     FROM mtls_config`,
  )!;
  return {
    enforcementEnabled: row.enforcementEnabled === 1,
    rejectUnknownCerts: row.rejectUnknownCerts === 1,
    autoEnroll: row.autoEnroll === 1,
  };
}

export function updateMtlsConfig(db: Database, config: MtlsConfig): void {
  db.run(
    `UPDATE mtls_config SET enforcement_enabled = :enforcementEnabled,
       reject_unknown_certs = :rejectUnknownCerts, auto_enroll = :autoEnroll`,
    {
      enforcementEnabled: Number(config.enforcementEnabled),
      rejectUnknownCerts: Number(config.rejectUnknownCerts),
      autoEnroll: Number(config.autoEnroll),
    },
  );
}
