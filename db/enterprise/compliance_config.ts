/**
 * The `compliance_config` table, which has one row: settings of the compliance log.
 *
 * @module
 */

import { singleRow } from "../columns.ts";

export const HASH_ALGORITHMS = ["sha256"] as const;
export const EXPORT_FORMATS = ["json", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ComplianceConfig {
  /** Whether entries are recorded. */
  enabled: boolean;
  retention_days: number;
  hash_algorithm: (typeof HASH_ALGORITHMS)[number];
  /** Whether read requests are recorded as well. */
  log_api_reads: boolean;
  /** The format of an export whose request names none. */
  export_format: ExportFormat;
}

export const { read: selectComplianceConfig, update: updateComplianceConfig } = singleRow<
  ComplianceConfig
>("compliance_config", {
  enabled: "boolean",
  retention_days: "value",
  hash_algorithm: "value",
  log_api_reads: "boolean",
  export_format: "value",
});
