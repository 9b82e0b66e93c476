/**
 * The `mtls_config` table, which has one row: how client certificates are handled.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

export interface MtlsConfig {
  /** Whether a client without a verified certificate is refused. */
  enforcement_enabled: boolean;
  /** Whether a valid certificate that belongs to no agent is refused. */
  reject_unknown_certs: boolean;
  /** Whether a certificate that belongs to no agent is recorded as a disabled agent. */
  auto_enroll: boolean;
}

/** The id of the only row. */
const ROW_ID = 1;

const configs = table<MtlsConfig>("mtls_config", {
  enforcement_enabled: "boolean",
  reject_unknown_certs: "boolean",
  auto_enroll: "boolean",
});

export function selectMtlsConfig(db: Database): MtlsConfig {
  return configs.selectOne(db)!;
}

export function updateMtlsConfig(db: Database, config: MtlsConfig): void {
  configs.update(db, ROW_ID, config);
}
