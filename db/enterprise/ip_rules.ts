/**
 * The `ip_rules` table: from which addresses the service may be used, and by whom.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const IP_RULE_SCOPES = ["global", "user"] as const;
export type IpRuleScope = (typeof IP_RULE_SCOPES)[number];

/** One rule as stored. Times are ISO 8601, UTC. */
export interface IpRule {
  id: string;
  /** An address or `address/prefix`, in its shortest form. */
  cidr: string;
  label: string;
  description: string;
  enabled: boolean;
  /** `global`: for everybody; `user`: only for the user `scope_id`. */
  scope: IpRuleScope;
  /** `null` exactly for the scope `global`. */
  scope_id: string | null;
  /** From then on it admits nobody; `null` for a rule without an end. */
  expires_at: string | null;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `
  id, cidr, label, description, enabled, scope, scope_id, expires_at, created_at, updated_at`;

type Row = Omit<IpRule, "enabled"> & { enabled: number };

const fromRow = (row: Row): IpRule => ({ ...row, enabled: row.enabled === 1 });
const toRow = (rule: IpRule) => ({ ...rule, enabled: Number(rule.enabled) });

/** Newest first. */
export function selectIpRules(db: Database): IpRule[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM ip_rules ORDER BY created_at DESC, id`).map(fromRow);
}

/** One rule, or `undefined` when the id is unknown. */
export function selectIpRule(db: Database, id: string): IpRule | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM ip_rules WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countIpRules(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM ip_rules")!.n;
}

export function insertIpRule(db: Database, rule: IpRule): void {
  db.run(
    `INSERT INTO ip_rules (${COLUMNS})
     VALUES (:id, :cidr, :label, :description, :enabled, :scope, :scope_id, :expires_at,
       :created_at, :updated_at)`,
    toRow(rule),
  );
}

export function updateIpRule(db: Database, rule: IpRule): void {
  const { created_at: _, ...row } = toRow(rule);
  db.run(
    `UPDATE ip_rules
     SET cidr = :cidr, label = :label, description = :description, enabled = :enabled,
       scope = :scope, scope_id = :scope_id, expires_at = :expires_at, updated_at = :updated_at
     WHERE id = :id`,
    row,
  );
}

export function deleteIpRule(db: Database, id: string): void {
  db.run("DELETE FROM ip_rules WHERE id = :id", { id });
}
