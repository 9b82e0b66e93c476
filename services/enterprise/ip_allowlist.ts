/**
 * The IP allowlist: from which addresses the service may be used, and by whom.
 *
 * While it is enforced, an address is looked at twice: before the caller is known it has to be on
 * any rule, also on one for a single user, who could not log in otherwise; and when the caller is
 * known it has to be on a rule for everybody or on one of the caller's own.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import {
  countIpRules,
  deleteIpRule,
  insertIpRule,
  type IpAllowlist,
  type IpRule,
  type IpRuleScope,
  selectIpAllowlist,
  selectIpRule,
  selectIpRules,
  updateIpAllowlist,
  updateIpRule,
} from "../../db/enterprise/ip_rules.ts";
import { selectComplianceConfig } from "../../db/enterprise/compliance_config.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { chainEntry, type NewEntry } from "./compliance_append.ts";
import { type Address, includesAddress, type Network, parseAddress, parseNetwork } from "./cidr.ts";
import { logDenial } from "./ip_denial_log.ts";
import { knownUserRole } from "./known_users.ts";

export { IP_RULE_SCOPES } from "../../db/enterprise/ip_rules.ts";
export type { IpRule, IpRuleScope };

/** Most rules; every request is compared with all of them. */
const RULES_MAX = 1_000;

export interface NewIpRule {
  cidr: string;
  label: string;
  description: string;
  enabled: boolean;
  scope: IpRuleScope;
  scope_id: string | null;
  /** ISO 8601 in any zone. */
  expires_at: string | null;
}

/** What an update may say; what it leaves out stays. */
export type IpRuleChange = { [Field in keyof NewIpRule]?: NewIpRule[Field] | undefined };

export type IpAllowlistConfig = Omit<IpAllowlist, "revision">;

/** What becomes of an address, and why. */
export interface IpCheck {
  ip: string;
  allowed: boolean;
  /** One sentence. */
  reason: string;
  /** Rules that are on and not over, for everybody or for the user who was asked about. */
  rules_evaluated: number;
}

/** A rule that is on, ready to be compared with. */
interface RuleInForce {
  rule: IpRule;
  network: Network;
  /** When it ends, in Unix milliseconds. */
  untilMs: number;
}

/** Whom rules are asked for: a user, anybody at all, or only what holds for everybody. */
type Who = { userId: string } | "anybody" | "everybody";

type RuleDeps = Pick<Deps, "db" | "config" | "now" | "log">;

/** The rules that are on, of each database; a process has one, a test has many. */
const known = new WeakMap<StateDatabase, { revision: string; rules: RuleInForce[] }>();

/**
 * Refuses an address that is not on the list while the list is enforced. What was changed holds
 * for the very next call, also where another process changed it.
 *
 * @param address As seen behind trusted proxies.
 * @param caller Missing while it is not known who calls; somebody without a token is as good.
 * @throws {AppError} `forbidden`
 */
export function assertAddressAllowed(
  deps: Pick<Deps, "db" | "now" | "log">,
  address: string,
  caller?: Caller,
): void {
  const who: Who = caller === undefined || caller.role === "public" ? "anybody" : caller;
  const allowlist = selectIpAllowlist(deps.db);
  if (admits(deps, allowlist, address, who)) return;
  if (allowlist.log_denials) logDenial(deps, address, caller?.userId);
  throw new AppError("forbidden", `The address ${address} is not on the IP allowlist`);
}

/** Whether a caller's address is on the list, or the list is not enforced. Tells no log. */
export const isAddressAllowed = (deps: Pick<Deps, "db" | "now">, caller: Caller): boolean =>
  admits(deps, selectIpAllowlist(deps.db), caller.address, caller);

function admits(
  { db, now }: Pick<Deps, "db" | "now">,
  { enforcement_enabled, revision }: IpAllowlist,
  address: string,
  who: Who,
): boolean {
  return !enforcement_enabled ||
    admittingRule(rulesInForce(db, revision), address, who, now()) !== undefined;
}

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
 * @throws {AppError} `invalid` for what is no network, for a scope without its user, and for an end
 * that has passed; `not_found` for an unknown user; `conflict` when there are too many.
 */
export function createIpRule(deps: RuleDeps, input: NewIpRule): IpRule {
  const { db, now, log } = deps;
  const at = now().toISOString();
  const rule = {
    ...checked(deps, input, undefined),
    id: crypto.randomUUID(),
    created_at: at,
    updated_at: at,
  };
  if (countIpRules(db) >= RULES_MAX) {
    throw new AppError("conflict", `There are ${RULES_MAX} IP rules already, and no more can be`);
  }
  insertIpRule(db, rule);
  log.info("IP rule created", { ruleId: rule.id, cidr: rule.cidr, scope: rule.scope });
  return rule;
}

/**
 * Changes what is given and keeps the rest.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` when the caller would be
 * locked out by it.
 */
export function changeIpRule(
  deps: RuleDeps,
  caller: Caller,
  id: string,
  change: IpRuleChange,
): IpRule {
  const { db, now, log } = deps;
  const rule = getIpRule(deps, id);
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as Partial<NewIpRule>;
  const forgotten = given.scope === "global" && given.scope_id === undefined;
  const changed = {
    ...rule,
    ...checked(deps, { ...rule, ...(forgotten && { scope_id: null }), ...given }, rule),
    updated_at: now().toISOString(),
  };
  assertNotLockedOut(deps, caller, (rules) => rules.map((each) => each.id === id ? changed : each));
  updateIpRule(db, changed);
  log.info("IP rule changed", { ruleId: id, cidr: changed.cidr, enabled: changed.enabled });
  return changed;
}

/**
 * Turns a rule on or off; without `enabled`, it becomes the opposite of what it is.
 *
 * @throws {AppError} `not_found`; `conflict` when the caller would be locked out by it.
 */
export function setIpRuleEnabled(
  deps: RuleDeps,
  caller: Caller,
  id: string,
  enabled: boolean | undefined,
): IpRule {
  return changeIpRule(deps, caller, id, { enabled: enabled ?? !getIpRule(deps, id).enabled });
}

/** @throws {AppError} `not_found`; `conflict` when the caller would be locked out by it. */
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

export function describeIpAllowlist({ db }: Pick<Deps, "db">): IpAllowlistConfig {
  const { revision: _, ...config } = selectIpAllowlist(db);
  return config;
}

/**
 * Turns enforcement, or the log of refused addresses, on or off.
 *
 * @throws {AppError} `conflict` when enforcement would lock out whoever turns it on.
 */
export function changeIpAllowlist(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  change: { [Field in keyof IpAllowlistConfig]?: IpAllowlistConfig[Field] | undefined },
): IpAllowlistConfig {
  const { db, now, log } = deps;
  const { revision, ...config } = selectIpAllowlist(db);
  const enforcement_enabled = change.enforcement_enabled ?? config.enforcement_enabled;
  const turnsOn = enforcement_enabled && !config.enforcement_enabled;
  if (turnsOn && !admittingRule(rulesInForce(db, revision), caller.address, caller, now())) {
    throw new AppError(
      "conflict",
      `No rule admits your own address ${caller.address}, which would be locked out`,
    );
  }
  const changed = { enforcement_enabled, log_denials: change.log_denials ?? config.log_denials };
  updateIpAllowlist(db, changed);
  if (enforcement_enabled !== config.enforcement_enabled) {
    log.warn(`IP allowlist turned ${turnsOn ? "on" : "off"}`, { userId: caller.userId });
  }
  return changed;
}

/**
 * Stops enforcement for whoever has the command line of the host, with an entry in the compliance
 * log. That there can be none keeps nobody out.
 *
 * @returns Whether it was on, and why there is no entry if there should be one.
 */
export function stopIpAllowlist(
  { db, now }: Pick<Deps, "db" | "now">,
): { wasOn: boolean; unrecorded?: unknown } {
  return db.transaction(() => {
    const { enforcement_enabled: wasOn, log_denials } = selectIpAllowlist(db);
    if (!wasOn) return { wasOn };
    updateIpAllowlist(db, { enforcement_enabled: false, log_denials });
    try {
      if (selectComplianceConfig(db).enabled) chainEntry({ db, now }, STOPPED);
      return { wasOn };
    } catch (error) {
      return { wasOn, unrecorded: error };
    }
  });
}

const STOPPED: NewEntry = {
  actor_id: "console",
  actor_type: "system",
  category: "security",
  severity: "warning",
  action: "ip_allowlist.off",
  resource_type: "ip_allowlist",
  resource_id: null,
  detail: "longshore ip-allowlist off",
  outcome: "success",
  metadata: null,
  recorded_by: null,
};

/**
 * What becomes of an address.
 *
 * @param ip The caller's own unless given.
 * @param userId Whose rules count besides those for everybody; for the caller's own address the
 * caller unless given.
 * @throws {AppError} `invalid` for what is no address; `not_found` for an unknown user.
 */
export function checkAddress(
  deps: Pick<Deps, "db" | "config" | "now">,
  caller: Caller,
  { ip, userId }: { ip: string | undefined; userId: string | undefined },
): IpCheck {
  const address = parseAddress(ip ?? caller.address);
  if (!address) throw new AppError("invalid", "query.ip: must be an IPv4 or IPv6 address");
  if (userId !== undefined) knownUserRole(deps, userId);
  const asked = userId ?? (ip === undefined ? caller.userId : undefined);
  const who: Who = asked === undefined ? "everybody" : { userId: asked };

  const { db, now } = deps;
  const { enforcement_enabled, revision } = selectIpAllowlist(db);
  const rules = rulesInForce(db, revision);
  const found = admittingRule(rules, address, who, now());
  return {
    ip: address.toString(),
    allowed: !enforcement_enabled || found !== undefined,
    reason: enforcement_enabled
      ? reasonOf(found, "")
      : `Not enforced; ${reasonOf(found, "would ")}`,
    rules_evaluated: rules.filter((each) => isAsked(each, who, now())).length,
  };
}

function reasonOf(found: RuleInForce | undefined, would: "" | "would "): string {
  const admits = would === "" ? "admits it" : "would admit it";
  if (!found) return `${would === "" ? "No" : "no"} rule ${admits}`;
  const { label, cidr, scope } = found.rule;
  const whom = scope === "user" ? " for this user" : "";
  return `${would === "" ? "The" : "the"} rule "${label}" (${cidr}) ${admits}${whom}`;
}

/** @throws {AppError} `conflict` when enforcement admits the caller now, and would not any more. */
function assertNotLockedOut(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  change: (rules: IpRule[]) => IpRule[],
): void {
  const { enforcement_enabled } = selectIpAllowlist(db);
  if (!enforcement_enabled) return;
  const rules = selectIpRules(db);
  const isAdmitted = (rules: IpRule[]) =>
    admittingRule(readied(rules), caller.address, caller, now()) !== undefined;
  if (!isAdmitted(rules) || isAdmitted(change(rules))) return;
  throw new AppError(
    "conflict",
    `No other rule admits your own address ${caller.address}, which would be locked out`,
  );
}

/** @param former The rule that is changed; an end that it has already may have passed. */
function checked(
  deps: Pick<RuleDeps, "db" | "config" | "now">,
  { cidr, label, description, enabled, scope, scope_id, expires_at }: NewIpRule,
  former: IpRule | undefined,
): NewIpRule {
  const network = parseNetwork(cidr);
  if ("refused" in network) throw new AppError("invalid", `body.cidr: ${network.refused}`);
  if (scope === "user" && scope_id === null) {
    throw new AppError("invalid", "body.scope_id: required for the scope user");
  }
  if (scope === "global" && scope_id !== null) {
    throw new AppError("invalid", "body.scope_id: must be left out for the scope global");
  }
  const ends = expires_at === null ? null : new Date(expires_at);
  const isNew = ends !== null && ends.toISOString() !== former?.expires_at;
  if (isNew && ends <= deps.now()) {
    throw new AppError("invalid", "body.expires_at: must be to come");
  }
  if (scope_id !== null && scope_id !== former?.scope_id) knownUserRole(deps, scope_id);
  return {
    cidr: network.text,
    label,
    description,
    enabled,
    scope,
    scope_id,
    expires_at: ends?.toISOString() ?? null,
  };
}

function rulesInForce(db: StateDatabase, revision: string): RuleInForce[] {
  const kept = known.get(db);
  if (kept?.revision === revision) return kept.rules;
  const rules = readied(selectIpRules(db));
  known.set(db, { revision, rules });
  return rules;
}

/** What cannot be read admits nobody. */
function readied(rules: readonly IpRule[]): RuleInForce[] {
  return rules.flatMap((rule) => {
    const network = parseNetwork(rule.cidr);
    if (!rule.enabled || "refused" in network) return [];
    const untilMs = rule.expires_at === null ? Infinity : Date.parse(rule.expires_at);
    return [{ rule, network, untilMs }];
  });
}

function admittingRule(
  rules: readonly RuleInForce[],
  from: string | Address,
  who: Who,
  at: Date,
): RuleInForce | undefined {
  const address = typeof from === "string" ? parseAddress(from) : from;
  if (!address) return undefined;
  return rules.find((each) => includesAddress(each.network, address) && isAsked(each, who, at));
}

function isAsked({ rule, untilMs }: RuleInForce, who: Who, at: Date): boolean {
  if (at.getTime() >= untilMs) return false;
  if (rule.scope === "global" || who === "anybody") return true;
  return who !== "everybody" && rule.scope_id === who.userId;
}
