/** The `ip_allowlist` table, which has one row: whether the IP allowlist is enforced. @module */

import { boolean, singleRow, text } from "../columns.ts";
import type { Database } from "../database.ts";

const allowlist = singleRow("ip_allowlist", {
  /** Whether addresses that no rule allows are refused. */
  enforcement_enabled: boolean(),
  /** Whether refused addresses are logged. */
  log_denials: boolean(),
  /** Gets a new, unique value whenever a rule is added, changed or deleted. */
  revision: text(),
});

export const { read: selectIpAllowlist } = allowlist;

export type IpAllowlist = ReturnType<typeof selectIpAllowlist>;

export type IpAllowlistConfig = Omit<IpAllowlist, "revision">;

export function updateIpAllowlist(
  db: Database,
  { enforcement_enabled, log_denials }: IpAllowlistConfig,
): void {
  allowlist.update(db, { enforcement_enabled, log_denials });
}
