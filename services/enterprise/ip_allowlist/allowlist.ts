/**
 * The IP allowlist: the addresses from which the service can be used, for all users or for one.
 *
 * While it is enforced, the address of a request is checked twice. Before authentication every rule
 * applies, including those of single users, because these users could not log in otherwise. After
 * authentication only the global rules and those of the caller apply.
 *
 * @module
 */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import {
  type IpAllowlist,
  type IpAllowlistConfig,
  selectIpAllowlist,
  updateIpAllowlist,
} from "../../../db/enterprise/ip_allowlist.ts";
import { selectIpRules } from "../../../db/enterprise/ip_rules.ts";
import type { Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { parseAddress } from "../../ip_address.ts";
import { chainEntry, type NewEntry, OWN_ENTRY } from "../compliance/append.ts";
import {
  findAdmittingRule,
  isApplicable,
  type ParsedRule,
  parseRules,
  type RuleSubject,
} from "./rule_match.ts";
import { knownUserRole } from "../roles/known_users.ts";

/** Whether an address is allowed, and why. */
interface IpCheck {
  ip: string;
  allowed: boolean;
  /** Whether a rule admits it, also while the allowlist is not enforced. */
  admitted: boolean;
  /** One sentence. */
  reason: string;
  /** Number of applicable rules: enabled, not expired, and global or of the given user. */
  rules_evaluated: number;
}

/** Checks the addresses of requests. A change of the rules applies to the next request. */
export function createAddressCheck(deps: Pick<Deps, "anonymousLog" | "db" | "now">) {
  const { db, now } = deps;
  let cached: { revision: string; rules: ParsedRule[] } | undefined;

  // The revision is read from the database each time, because another process can change the rules.
  const rulesOf = (revision: string): ParsedRule[] => {
    if (cached?.revision !== revision) cached = { revision, rules: parseRules(selectIpRules(db)) };
    return cached.rules;
  };
  const isAdmitted = (
    { enforcement_enabled, revision }: IpAllowlist,
    address: string,
    subject: RuleSubject,
  ): boolean =>
    !enforcement_enabled ||
    findAdmittingRule(rulesOf(revision), parseAddress(address), subject, now()) !== undefined;

  return {
    /**
     * Refuses an address that no rule admits while the allowlist is enforced.
     *
     * @param address The client's address behind trusted proxies.
     * @param caller `undefined` before authentication.
     * @throws {AppError} `forbidden`
     */
    assertAllowed(address: string, caller?: Caller): void {
      const isUnknown = caller === undefined || caller.role === "public";
      const allowlist = selectIpAllowlist(db);
      if (isAdmitted(allowlist, address, isUnknown ? "all users" : caller)) return;
      if (allowlist.log_denials) {
        const userId = caller?.userId;
        deps.anonymousLog.warn("address refused", { ...(userId && { userId }), address });
      }
      throw new AppError("forbidden", `The address ${address} is not on the IP allowlist`);
    },
    /** Whether the caller's address is allowed. A refusal is not logged. */
    isAllowed: (caller: Caller): boolean =>
      isAdmitted(selectIpAllowlist(db), caller.address, caller),
  };
}

/**
 * Reports whether an address is allowed, and which rule admits it.
 *
 * @param ip Defaults to the caller's address.
 * @param userId The user whose rules apply in addition to the global ones. Defaults to the caller
 * for the caller's own address, to no user otherwise.
 * @throws {AppError} `invalid` for an invalid address; `not_found` for an unknown user.
 */
export function checkAddress(
  deps: Pick<Deps, "db" | "config" | "now">,
  caller: Caller,
  { ip, userId }: { ip: string | undefined; userId: string | undefined },
): IpCheck {
  const { db, now } = deps;
  const address = parseAddress(ip ?? caller.address);
  if (!address) throw new AppError("invalid", "query.ip: must be an IPv4 or IPv6 address");
  if (userId !== undefined) knownUserRole(deps, userId);
  const subjectId = userId ?? (ip === undefined ? caller.userId : undefined);
  const subject: RuleSubject = subjectId === undefined ? "global only" : { userId: subjectId };

  const { enforcement_enabled } = selectIpAllowlist(db);
  const rules = parseRules(selectIpRules(db));
  const found = findAdmittingRule(rules, address, subject, now());
  return {
    ip: address.toString(),
    allowed: !enforcement_enabled || found !== undefined,
    admitted: found !== undefined,
    reason: describeDecision(found, enforcement_enabled),
    rules_evaluated: rules.filter((rule) => isApplicable(rule, subject, now())).length,
  };
}

function describeDecision(found: ParsedRule | undefined, isEnforced: boolean): string {
  if (!found) return isEnforced ? "No rule admits it" : "Not enforced; no rule would admit it";
  const { label, cidr, scope } = found.rule;
  const what = `rule "${label}" (${cidr})`;
  const whom = scope === "user" ? " for this user" : "";
  return isEnforced
    ? `The ${what} admits it${whom}`
    : `Not enforced; the ${what} would admit it${whom}`;
}

export function getIpAllowlistConfig({ db }: Pick<Deps, "db">): IpAllowlistConfig {
  const { revision: _, ...config } = selectIpAllowlist(db);
  return config;
}

/**
 * Changes the given settings.
 *
 * @throws {AppError} `conflict` if enforcement would lock out the caller.
 */
export function changeIpAllowlistConfig(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  change: Change<IpAllowlistConfig>,
): IpAllowlistConfig {
  const { revision: _, ...before } = selectIpAllowlist(db);
  const config = applyChange(before, change);
  const isTurnedOn = config.enforcement_enabled && !before.enforcement_enabled;
  const rules = parseRules(selectIpRules(db));
  if (isTurnedOn && !findAdmittingRule(rules, parseAddress(caller.address), caller, now())) {
    throw new AppError("conflict", `This would lock you out: no rule admits ${caller.address}`);
  }
  updateIpAllowlist(db, config);
  if (config.enforcement_enabled !== before.enforcement_enabled) {
    log.warn(`IP allowlist turned ${isTurnedOn ? "on" : "off"}`, { userId: caller.userId });
  }
  return config;
}

/**
 * Stops enforcement for an operator who is locked out, and records it in the compliance log. A
 * damaged compliance log does not prevent it.
 *
 * @returns Whether it was enforced; `unrecorded` is the error if the entry could not be recorded.
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
  ...OWN_ENTRY,
  actor_id: "console",
  actor_type: "system",
  severity: "warning",
  action: "ip_allowlist.off",
  resource_type: "ip_allowlist",
  detail: "longshore ip-allowlist off",
};
