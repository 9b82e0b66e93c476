/**
 * The `ip_rules` table: the addresses that may use the service, for all users or for one.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

export const IP_RULE_SCOPES = ["global", "user"] as const;
type IpRuleScope = (typeof IP_RULE_SCOPES)[number];

/** One rule as stored. Times are ISO 8601, UTC. */
export interface IpRule {
  id: string;
  /** An address or `address/prefix`, in its shortest form. */
  cidr: string;
  label: string;
  description: string;
  enabled: boolean;
  /** `global`: for all users; `user`: only for the user `scope_id`. */
  scope: IpRuleScope;
  /** `null` if and only if the scope is `global`. */
  scope_id: string | null;
  /** The rule has no effect from then on; `null` for a rule that does not expire. */
  expires_at: string | null;
  created_at: string;
  updated_at: string;
}

const rules = table<IpRule>("ip_rules", {
  id: "value",
  cidr: "value",
  label: "value",
  description: "value",
  enabled: "boolean",
  scope: "value",
  scope_id: "value",
  expires_at: "value",
  created_at: "value",
  updated_at: "value",
});

export const {
  find: selectIpRule,
  count: countIpRules,
  insert: insertIpRule,
  save: updateIpRule,
  delete: deleteIpRule,
} = rules;

/** Newest first. */
export function selectIpRules(db: Database): IpRule[] {
  return rules.select(db, "ORDER BY created_at DESC, id");
}
