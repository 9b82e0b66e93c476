/**
 * The one row of `compliance_config`: what the compliance log takes down, and for how long.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const HASH_ALGORITHMS = ["sha256"] as const;
export const EXPORT_FORMATS = ["json", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ComplianceConfig {
  /** Whether anything is written. */
  enabled: boolean;
  retention_days: number;
  hash_algorithm: (typeof HASH_ALGORITHMS)[number];
  /** Whether reads are written down as well. */
  log_api_reads: boolean;
  /** Of an export that does not say. */
  export_format: ExportFormat;
}

type Row = Omit<ComplianceConfig, "enabled" | "log_api_reads"> & {
  enabled: number;
  log_api_reads: number;
};

export function selectComplianceConfig(db: Database): ComplianceConfig {
  const row = db.get<Row>(
    `SELECT enabled, retention_days, hash_algorithm, log_api_reads, export_format
     FROM compliance_config`,
  )!;
  return { ...row, enabled: row.enabled === 1, log_api_reads: row.log_api_reads === 1 };
}

export function updateComplianceConfig(db: Database, config: ComplianceConfig): void {
  db.run(
    `UPDATE compliance_config
     SET enabled = :enabled, retention_days = :retention_days, hash_algorithm = :hash_algorithm,
       log_api_reads = :log_api_reads, export_format = :export_format`,
    {
      ...config,
      enabled: Number(config.enabled),
      log_api_reads: Number(config.log_api_reads),
    },
  );
}
