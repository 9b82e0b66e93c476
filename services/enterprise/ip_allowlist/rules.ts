/**
 * The rules of the IP allowlist. While it is enforced, callers cannot change or delete the rule that
 * admits their own address, so that they do not lock themselves out.
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
import type { Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import { parseAddress, parseNetwork } from "../../ip_address.ts";
import { admittedUntilMs } from "./rule_match.ts";
import { knownUserRole } from "../roles/known_users.ts";

export { IP_RULE_SCOPES } from "../../../db/enterprise/ip_rules.ts";

/** Maximum number of rules: every request is compared with all of them. */
export const IP_RULES_MAX = 1_000;

/** The settings of a rule. `expires_at` is ISO 8601 in any time zone. */
type NewIpRule = Omit<IpRule, "id" | "created_at" | "updated_at">;

type RuleDeps = Pick<Deps, "db" | "config" | "now" | "log">;

/** Lists rules, newest first. */
export function listIpRules({ db }: Pick<Deps, "db">): { rules: IpRule[] } {
  return { rules: selectIpRules(db) };
}

/** @throws {AppError} `not_found`. */
export function getIpRule({ db }: Pick<Deps, "db">, id: string): IpRule {
  return requireFound(selectIpRule(db, id), "IP rule", id);
}

/**
 * Stores a new rule.
 *
 * @throws {AppError} `invalid` for an invalid network, for a `scope_id` that does not match the
 * scope, and for an expiry in the past; `not_found` for an unknown user; `conflict` at the limit of
 * {@linkcode IP_RULES_MAX}.
 */
export function createIpRule(deps: RuleDeps, input: NewIpRule): IpRule {
  const { db, now, log } = deps;
  const checked = normalizeRule(deps, input);
  if (countIpRules(db) >= IP_RULES_MAX) throw tooMany("IP rules", IP_RULES_MAX);
  const at = now().toISOString();
  const rule = { ...checked, id: crypto.randomUUID(), created_at: at, updated_at: at };
  insertIpRule(db, rule);
  log.info("IP rule created", { ruleId: rule.id, cidr: rule.cidr, scope: rule.scope });
  return rule;
}

/**
 * Changes the given fields of a rule.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new rule; `conflict` if it would lock out the
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
  // Making a user's rule global also removes the user.
  const removesUser = change.scope === "global" && change.scope_id === undefined;
  const changed = applyChange(before, { ...change, ...(removesUser && { scope_id: null }) });
  const normalized = normalizeRule(deps, changed, before);
  const rule = { ...before, ...normalized, updated_at: now().toISOString() };
  assertNotLockedOut(deps, caller, (rules) => rules.map((each) => each.id === id ? rule : each));
  updateIpRule(db, rule);
  log.info("IP rule changed", { ruleId: id, cidr: rule.cidr, enabled: rule.enabled });
  return rule;
}

/**
 * Enables or disables a rule.
 *
 * @param enabled Toggles the rule if omitted.
 * @throws {AppError} `not_found`; `conflict` if it would lock out the caller.
 */
export function setIpRuleEnabled(
  deps: RuleDeps,
  caller: Caller,
  id: string,
  enabled?: boolean,
): IpRule {
  return changeIpRule(deps, caller, id, { enabled: enabled ?? !getIpRule(deps, id).enabled });
}

/** @throws {AppError} `not_found`; `conflict` if it would lock out the caller. */
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
 * Refuses a change after which the rules no longer admit the caller's own address, or for a shorter
 * time than before.
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
    afterMs > at.getTime()
      ? `No other rule admits your own address ${caller.address} for as long`
      : `This would lock you out: no other rule admits ${caller.address}`,
  );
}

/**
 * Validates a rule and returns it as stored: the network in its shortest form, the expiry in UTC.
 *
 * @param before The rule that is being changed. Unchanged fields are not validated again, because
 * the user may have been deleted and the expiry may have passed.
 * @throws {AppError} `invalid`; `not_found` for an unknown user.
 */
function normalizeRule(
  deps: Pick<Deps, "db" | "config" | "now">,
  rule: NewIpRule,
  before?: IpRule,
): NewIpRule {
  const { scope, scope_id } = rule;
  const network = parseNetwork(rule.cidr);
  if ("refused" in network) throw new AppError("invalid", `body.cidr: ${network.refused}`);
  if (scope === "user" && scope_id === null) {
    throw new AppError("invalid", "body.scope_id: required for the scope user");
  }
  if (scope === "global" && scope_id !== null) {
    throw new AppError("invalid", "body.scope_id: must be omitted for the scope global");
  }
  const expires_at = rule.expires_at && new Date(rule.expires_at).toISOString();
  const isNewExpiry = expires_at !== null && expires_at !== before?.expires_at;
  if (isNewExpiry && new Date(expires_at) <= deps.now()) {
    throw new AppError("invalid", "body.expires_at: must be in the future");
  }
  if (scope_id !== null && scope_id !== before?.scope_id) knownUserRole(deps, scope_id);
  return { ...rule, cidr: network.text, expires_at };
}
