/** The `compliance_config` table, which has one row: settings of the compliance log. @module */

import { boolean, number, singleRow, text } from "../columns.ts";

export const HASH_ALGORITHMS = ["sha256"] as const;
export const EXPORT_FORMATS = ["json", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const { read: selectComplianceConfig, update: updateComplianceConfig } = singleRow(
  "compliance_config",
  {
    /** Whether entries are recorded. */
    enabled: boolean(),
    retention_days: number(),
    hash_algorithm: text<(typeof HASH_ALGORITHMS)[number]>(),
    /** Whether read requests are recorded as well. */
    log_api_reads: boolean(),
    /** The format of an export whose request names none. */
    export_format: text<ExportFormat>(),
  },
);

export type ComplianceConfig = ReturnType<typeof selectComplianceConfig>;
