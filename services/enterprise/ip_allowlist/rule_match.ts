/**
 * Which rule of the IP allowlist admits an address.
 *
 * @module
 */

import type { StateDatabase } from "../../../db/database.ts";
import { type IpRule, selectIpRules } from "../../../db/enterprise/ip_rules.ts";
import {
  type Address,
  includesAddress,
  type Network,
  parseNetwork,
} from "../../auth/ip_address.ts";

/** An enabled rule, ready to be compared with addresses. */
export interface ReadyRule {
  rule: IpRule;
  network: Network;
  /** When it ends, in Unix milliseconds; `Infinity` for a rule without an end. */
  untilMs: number;
}

/**
 * Whose rules count besides the global ones: those of one user, those of every user (as long as it
 * is not known who calls), or nobody's.
 */
export type RulesOf = { userId: string } | "every user" | "nobody";

/** The ready rules of each database. A process has one database, a test has many. */
const kept = new WeakMap<StateDatabase, { revision: string; rules: ReadyRule[] }>();

/** The enabled rules, which are read and parsed again only after they were changed. */
export function readyRules(db: StateDatabase, revision: string): ReadyRule[] {
  const known = kept.get(db);
  if (known?.revision === revision) return known.rules;
  const rules = madeReady(selectIpRules(db));
  kept.set(db, { revision, rules });
  return rules;
}

/** The first rule that admits an address at a time. */
export function admittingRule(
  rules: readonly ReadyRule[],
  address: Address | undefined,
  whose: RulesOf,
  at: Date,
): ReadyRule | undefined {
  if (!address) return undefined;
  return rules.find((each) => includesAddress(each.network, address) && counts(each, whose, at));
}

/** Whether a rule has not ended yet and is global or for whoever is asked about. */
export function counts({ rule, untilMs }: ReadyRule, whose: RulesOf, at: Date): boolean {
  if (at.getTime() >= untilMs) return false;
  if (rule.scope === "global" || whose === "every user") return true;
  return whose !== "nobody" && rule.scope_id === whose.userId;
}

/**
 * Until when the rules admit an address, in Unix milliseconds: `Infinity` if there is no end, 0 if
 * none admits it.
 */
export function admittedUntilMs(
  rules: readonly IpRule[],
  address: Address | undefined,
  whose: RulesOf,
  at: Date,
): number {
  if (!address) return 0;
  const ends = madeReady(rules)
    .filter((each) => includesAddress(each.network, address) && counts(each, whose, at))
    .map(({ untilMs }) => untilMs);
  return Math.max(0, ...ends);
}

/** A rule whose network cannot be read (somebody edited the database) admits nobody. */
function madeReady(rules: readonly IpRule[]): ReadyRule[] {
  return rules.flatMap((rule) => {
    const network = parseNetwork(rule.cidr);
    if (!rule.enabled || "refused" in network) return [];
    const untilMs = rule.expires_at === null ? Infinity : Date.parse(rule.expires_at);
    return [{ rule, network, untilMs }];
  });
}
