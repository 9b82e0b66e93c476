/** The `mtls_config` table, which has one row: how client certificates are handled. @module */

import { boolean, singleRow } from "../columns.ts";

export const { read: selectMtlsConfig, update: updateMtlsConfig } = singleRow("mtls_config", {
  /** Whether a client without a verified certificate is refused. */
  enforcement_enabled: boolean(),
  /** Whether a valid certificate that belongs to no agent is refused. */
  reject_unknown_certs: boolean(),
  /** Whether a certificate that belongs to no agent is recorded as a disabled agent. */
  auto_enroll: boolean(),
});

export type MtlsConfig = ReturnType<typeof selectMtlsConfig>;
