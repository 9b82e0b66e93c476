/** Matching of addresses against the rules of the IP allowlist. @module */

import type { IpRule } from "../../../db/enterprise/ip_rules.ts";
import { type Address, includesAddress, type Network, parseNetwork } from "../../ip_address.ts";

/** An enabled rule with its network parsed. */
export interface ParsedRule {
  rule: IpRule;
  network: Network;
  /** Expiry in Unix milliseconds; `Infinity` for a rule that does not expire. */
  untilMs: number;
}

/**
 * The subjects whose user rules apply in addition to the global rules: one user, all users (before
 * authentication), or none.
 */
export type RuleSubject = { userId: string } | "all users" | "global only";

/** Parses the enabled rules. A rule whose stored network is invalid admits no address. */
export function parseRules(rules: readonly IpRule[]): ParsedRule[] {
  return rules.flatMap((rule) => {
    const network = parseNetwork(rule.cidr);
    if (!rule.enabled || "refused" in network) return [];
    const untilMs = rule.expires_at === null ? Infinity : Date.parse(rule.expires_at);
    return [{ rule, network, untilMs }];
  });
}

/** Finds the first rule that admits an address at a time. */
export function findAdmittingRule(
  rules: readonly ParsedRule[],
  address: Address | undefined,
  subject: RuleSubject,
  at: Date,
): ParsedRule | undefined {
  return address &&
    rules.find((rule) => includesAddress(rule.network, address) && isApplicable(rule, subject, at));
}

/** Whether a rule has not expired and is global or belongs to the subject. */
export function isApplicable(
  { rule, untilMs }: ParsedRule,
  subject: RuleSubject,
  at: Date,
): boolean {
  if (at.getTime() >= untilMs) return false;
  if (rule.scope === "global" || subject === "all users") return true;
  return subject !== "global only" && rule.scope_id === subject.userId;
}

/**
 * The time until which the rules admit an address, in Unix milliseconds: `Infinity` if it does not
 * expire, 0 if no rule admits the address.
 */
export function admittedUntilMs(
  rules: readonly IpRule[],
  address: Address | undefined,
  subject: RuleSubject,
  at: Date,
): number {
  if (!address) return 0;
  const ends = parseRules(rules)
    .filter((rule) => includesAddress(rule.network, address) && isApplicable(rule, subject, at))
    .map(({ untilMs }) => untilMs);
  return Math.max(0, ...ends);
}
