/**
 * The `ip_allowlist` table, which has one row: whether the IP allowlist is enforced.
 *
 * @module
 */

import type { Database } from "../database.ts";

export interface IpAllowlistConfig {
  /** Whether addresses that no rule admits are refused. */
  enforcement_enabled: boolean;
  /** Whether refused addresses are logged. */
  log_denials: boolean;
}

export interface IpAllowlist extends IpAllowlistConfig {
  /** Changes, to what it never was before, whenever a rule is added, changed or deleted. */
  revision: string;
}

type Row = Pick<IpAllowlist, "revision"> & Record<keyof IpAllowlistConfig, number>;

export function selectIpAllowlist(db: Database): IpAllowlist {
  const row = db.get<Row>(
    "SELECT enforcement_enabled, log_denials, revision FROM ip_allowlist WHERE id = 1",
  )!;
  return {
    enforcement_enabled: row.enforcement_enabled === 1,
    log_denials: row.log_denials === 1,
    revision: row.revision,
  };
}

export function updateIpAllowlist(
  db: Database,
  { enforcement_enabled, log_denials }: IpAllowlistConfig,
): void {
  db.run(
    `UPDATE ip_allowlist
     SET enforcement_enabled = :enforcement_enabled, log_denials = :log_denials
     WHERE id = 1`,
    { enforcement_enabled: Number(enforcement_enabled), log_denials: Number(log_denials) },
  );
}
