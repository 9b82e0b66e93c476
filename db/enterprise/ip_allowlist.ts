/**
 * The `ip_allowlist` table, which has one row: whether the IP allowlist is enforced.
 *
 * @module
 */

import { table } from "../columns.ts";
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

/** The id of the only row. */
const ROW_ID = 1;

const configs = table<IpAllowlist>("ip_allowlist", {
  enforcement_enabled: "boolean",
  log_denials: "boolean",
  revision: "value",
});

export function selectIpAllowlist(db: Database): IpAllowlist {
  return configs.selectOne(db)!;
}

export function updateIpAllowlist(
  db: Database,
  { enforcement_enabled, log_denials }: IpAllowlistConfig,
): void {
  configs.update(db, ROW_ID, { enforcement_enabled, log_denials });
}
