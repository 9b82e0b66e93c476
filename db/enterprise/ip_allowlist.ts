/**
 * The `ip_allowlist` table, which has one row: whether the IP allowlist is enforced.
 *
 * @module
 */

import { singleRow } from "../columns.ts";
import type { Database } from "../database.ts";

export interface IpAllowlistConfig {
  /** Whether addresses that no rule allows are refused. */
  enforcement_enabled: boolean;
  /** Whether refused addresses are logged. */
  log_denials: boolean;
}

export interface IpAllowlist extends IpAllowlistConfig {
  /** Gets a new, unique value whenever a rule is added, changed or deleted. */
  revision: string;
}

const allowlist = singleRow<IpAllowlist>("ip_allowlist", {
  enforcement_enabled: "boolean",
  log_denials: "boolean",
  revision: "value",
});

export const { read: selectIpAllowlist } = allowlist;

export function updateIpAllowlist(
  db: Database,
  { enforcement_enabled, log_denials }: IpAllowlistConfig,
): void {
  allowlist.update(db, { enforcement_enabled, log_denials });
}
