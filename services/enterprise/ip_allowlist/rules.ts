/**
 * The rules of the IP allowlist. While it is enforced, nobody can change or delete the rule that
 * admits their own address, so that nobody locks themselves out.
 *
 * @module
 */

import { selectIpAllowlist } from "../../../db/enterprise/ip_allowlist.ts";
import {
  countIpRules,
  deleteIpRule,
  insertIpRule,
  type IpRule,
  selectIpRule,
  selectIpRules,
  updateIpRule,
} from "../../../db/enterprise/ip_rules.ts";
import type { Caller } from "../../auth/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, tooMany } from "../../errors.ts";
import { parseAddress, parseNetwork } from "../../auth/ip_address.ts";
import { admittedUntilMs } from "./rule_match.ts";
import { knownUserRole } from "../roles/known_users.ts";

export { IP_RULE_SCOPES } from "../../../db/enterprise/ip_rules.ts";

/** Most rules; every request is compared with all of them. */
export const IP_RULES_MAX = 1_000;

/** What an administrator says of a rule. `expires_at` is ISO 8601 in any zone. */
export type NewIpRule = Omit<IpRule, "id" | "created_at" | "updated_at">;

type RuleDeps = Pick<Deps, "db" | "config" | "now" | "log">;

/** Newest first. */
export function listIpRules({ db }: Pick<Deps, "db">): { rules: IpRule[] } {
  return { rules: selectIpRules(db) };
}

/** @throws {AppError} `not_found`. */
export function getIpRule({ db }: Pick<Deps, "db">, id: string): IpRule {
  const rule = selectIpRule(db, id);
  if (!rule) throw notFound("IP rule", id);
  return rule;
}

/**
 * Stores a new rule.
 *
 * @throws {AppError} `invalid` for a text that is no network, for a scope and a `scope_id` that do
 * not fit together, and for an end in the past; `not_found` for an unknown user; `conflict` when
 * there are too many rules.
 */
export function createIpRule(deps: RuleDeps, input: NewIpRule): IpRule {
  const { db, now, log } = deps;
  const checked = checkedRule(deps, input);
  if (countIpRules(db) >= IP_RULES_MAX) throw tooMany("IP rules", IP_RULES_MAX);
  const at = now().toISOString();
  const rule = { ...checked, id: crypto.randomUUID(), created_at: at, updated_at: at };
  insertIpRule(db, rule);
  log.info("IP rule created", { ruleId: rule.id, cidr: rule.cidr, scope: rule.scope });
  return rule;
}

/**
 * Changes what is given and keeps the rest.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new rule; `conflict` when it would lock out the
 * caller.
 */
export function changeIpRule(
  deps: RuleDeps,
  caller: Caller,
  id: string,
  change: Change<NewIpRule>,
): IpRule {
  const { db, now, log } = deps;
  const before = getIpRule(deps, id);
  // Whoever makes the rule of a user global does not have to take the user out as well.
  const isForNobody = change.scope === "global" && change.scope_id === undefined;
  const asked = applyChange(before, { ...change, ...(isForNobody && { scope_id: null }) });
  const rule = {
    ...before,
    ...checkedRule(deps, asked, before),
    updated_at: now().toISOString(),
  };
  assertNotLockedOut(deps, caller, (rules) => rules.map((each) => each.id === id ? rule : each));
  updateIpRule(db, rule);
  log.info("IP rule changed", { ruleId: id, cidr: rule.cidr, enabled: rule.enabled });
  return rule;
}

/**
 * Enables or disables a rule.
 *
 * @param enabled The opposite of what it is unless given.
 * @throws {AppError} `not_found`; `conflict` when it would lock out the caller.
 */
export function setIpRuleEnabled(
  deps: RuleDeps,
  caller: Caller,
  id: string,
  enabled?: boolean,
): IpRule {
  return changeIpRule(deps, caller, id, { enabled: enabled ?? !getIpRule(deps, id).enabled });
}

/** @throws {AppError} `not_found`; `conflict` when it would lock out the caller. */
export function removeIpRule(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  id: string,
): void {
  const { cidr } = getIpRule(deps, id);
  assertNotLockedOut(deps, caller, (rules) => rules.filter((rule) => rule.id !== id));
  deleteIpRule(deps.db, id);
  deps.log.info("IP rule deleted", { ruleId: id, cidr });
}

/**
 * Refuses a change of the rules after which they admit the caller's own address no more, or not for
 * as long. A caller whom they do not admit now has nothing to lose.
 *
 * @throws {AppError} `conflict`
 */
function assertNotLockedOut(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  change: (rules: IpRule[]) => IpRule[],
): void {
  if (!selectIpAllowlist(db).enforcement_enabled) return;
  const at = now();
  const address = parseAddress(caller.address);
  const rules = selectIpRules(db);
  const beforeMs = admittedUntilMs(rules, address, caller, at);
  const afterMs = admittedUntilMs(change(rules), address, caller, at);
  if (afterMs >= beforeMs) return;
  throw new AppError(
    "conflict",
    `No other rule admits your own address ${caller.address}` +
      (afterMs > at.getTime() ? " for as long" : ", which would be locked out"),
  );
}

/**
 * The rule as it is stored: with its network in the shortest form and its end in UTC.
 *
 * @param before The rule that is changed. What it had before is not checked again: its user may
 * be gone and its end may have passed.
 * @throws {AppError} `invalid`; `not_found` for an unknown user.
 */
function checkedRule(
  deps: Pick<Deps, "db" | "config" | "now">,
  { cidr, label, description, enabled, scope, scope_id, expires_at }: NewIpRule,
  before?: IpRule,
): NewIpRule {
  const network = parseNetwork(cidr);
  if ("refused" in network) throw new AppError("invalid", `body.cidr: ${network.refused}`);
  if (scope === "user" && scope_id === null) {
    throw new AppError("invalid", "body.scope_id: required for the scope user");
  }
  if (scope === "global" && scope_id !== null) {
    throw new AppError("invalid", "body.scope_id: must be left out for the scope global");
  }
  const endsAt = expires_at === null ? null : new Date(expires_at).toISOString();
  if (endsAt !== null && endsAt !== before?.expires_at && new Date(endsAt) <= deps.now()) {
    throw new AppError("invalid", "body.expires_at: must be in the future");
  }
  if (scope_id !== null && scope_id !== before?.scope_id) knownUserRole(deps, scope_id);
  return { cidr: network.text, label, description, enabled, scope, scope_id, expires_at: endsAt };
}
