/**
 * The `ip_rules` table: the addresses that may use the service, for all users or for one.
 *
 * @module
 */

import { boolean, type Row, table, text } from "../columns.ts";

export const IP_RULE_SCOPES = ["global", "user"] as const;
type IpRuleScope = (typeof IP_RULE_SCOPES)[number];

const rules = table("ip_rules", {
  id: text(),
  /** An address or `address/prefix`, in its shortest form. */
  cidr: text(),
  label: text(),
  description: text(),
  enabled: boolean(),
  /** `global`: for all users; `user`: only for the user `scope_id`. */
  scope: text<IpRuleScope>(),
  /** `null` if and only if the scope is `global`. */
  scope_id: text<string | null>(),
  /** The rule has no effect from then on; `null` for a rule that does not expire. */
  expires_at: text<string | null>(),
  created_at: text(),
  updated_at: text(),
}, { order: "created_at DESC, id" });

/** One rule as stored. Times are ISO 8601, UTC. */
export type IpRule = Row<typeof rules>;

export const {
  find: selectIpRule,
  count: countIpRules,
  insert: insertIpRule,
  save: updateIpRule,
  delete: deleteIpRule,
  /** Newest first. */
  all: selectIpRules,
} = rules;
