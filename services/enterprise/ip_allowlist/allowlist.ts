/**
 * The IP allowlist: from which addresses the service may be used, and by whom.
 *
 * While it is enforced, the address of a request is checked twice. Before the caller is known, any
 * rule may admit it, also one for a single user: otherwise that user could not log in. Once the
 * caller is known, only the global rules and the caller's own count.
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
import type { Caller } from "../../auth/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import { warnAnonymous } from "../../auth/anonymous_log.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { parseAddress } from "../../auth/ip_address.ts";
import { chainEntry, type NewEntry } from "../compliance/append.ts";
import { admittingRule, counts, type ReadyRule, readyRules, type RulesOf } from "./rule_match.ts";
import { knownUserRole } from "../roles/known_users.ts";

/** Whether an address may use the service, and why. */
export interface IpCheck {
  ip: string;
  allowed: boolean;
  /** One sentence. */
  reason: string;
  /** How many rules count: enabled, not ended, and global or for the user who is asked about. */
  rules_evaluated: number;
}

/**
 * Refuses an address that no rule admits while the allowlist is enforced. A change of the rules
 * holds for the very next call, also when another process made it.
 *
 * @param address As seen behind trusted proxies.
 * @param caller `undefined` as long as it is not known who calls.
 * @throws {AppError} `forbidden`
 */
export function assertAddressAllowed(
  deps: Pick<Deps, "db" | "now" | "log">,
  address: string,
  caller?: Caller,
): void {
  const isUnknown = caller === undefined || caller.role === "public";
  const allowlist = selectIpAllowlist(deps.db);
  if (admits(deps, allowlist, address, isUnknown ? "every user" : caller)) return;
  if (allowlist.log_denials) {
    const userId = caller?.userId;
    warnAnonymous(deps, "address refused", { ...(userId && { userId }), address });
  }
  throw new AppError("forbidden", `The address ${address} is not on the IP allowlist`);
}

/** Whether a caller may use the service from their address. A refusal is not logged. */
export const isAddressAllowed = (deps: Pick<Deps, "db" | "now">, caller: Caller): boolean =>
  admits(deps, selectIpAllowlist(deps.db), caller.address, caller);

function admits(
  { db, now }: Pick<Deps, "db" | "now">,
  { enforcement_enabled, revision }: IpAllowlist,
  address: string,
  whose: RulesOf,
): boolean {
  return !enforcement_enabled ||
    admittingRule(readyRules(db, revision), parseAddress(address), whose, now()) !== undefined;
}

/**
 * Tells whether an address may use the service, and which rule admits it.
 *
 * @param ip The caller's own address unless given.
 * @param userId Whose rules count besides the global ones. Unless given, nobody's; for the caller's
 * own address the caller's.
 * @throws {AppError} `invalid` for a text that is no address; `not_found` for an unknown user.
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
  const asked = userId ?? (ip === undefined ? caller.userId : undefined);
  const whose: RulesOf = asked === undefined ? "nobody" : { userId: asked };

  const { enforcement_enabled, revision } = selectIpAllowlist(db);
  const rules = readyRules(db, revision);
  const found = admittingRule(rules, address, whose, now());
  return {
    ip: address.toString(),
    allowed: !enforcement_enabled || found !== undefined,
    reason: enforcement_enabled ? reasonOf(found) : `Not enforced; ${reasonIfEnforced(found)}`,
    rules_evaluated: rules.filter((each) => counts(each, whose, now())).length,
  };
}

const reasonOf = (found: ReadyRule | undefined) =>
  found ? `The ${named(found)} admits it${forWhom(found)}` : "No rule admits it";

const reasonIfEnforced = (found: ReadyRule | undefined) =>
  found ? `the ${named(found)} would admit it${forWhom(found)}` : "no rule would admit it";

const named = ({ rule }: ReadyRule) => `rule "${rule.label}" (${rule.cidr})`;
const forWhom = ({ rule }: ReadyRule) => rule.scope === "user" ? " for this user" : "";

export function getIpAllowlistConfig({ db }: Pick<Deps, "db">): IpAllowlistConfig {
  const { revision: _, ...config } = selectIpAllowlist(db);
  return config;
}

/**
 * Changes the settings that are given and keeps the others.
 *
 * @throws {AppError} `conflict` when enforcement would lock out whoever turns it on.
 */
export function changeIpAllowlistConfig(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  change: Change<IpAllowlistConfig>,
): IpAllowlistConfig {
  const { revision, ...before } = selectIpAllowlist(db);
  const config = applyChange(before, change);
  const turnsOn = config.enforcement_enabled && !before.enforcement_enabled;
  const address = parseAddress(caller.address);
  if (turnsOn && !admittingRule(readyRules(db, revision), address, caller, now())) {
    throw new AppError(
      "conflict",
      `No rule admits your own address ${caller.address}, which would be locked out`,
    );
  }
  updateIpAllowlist(db, config);
  if (config.enforcement_enabled !== before.enforcement_enabled) {
    log.warn(`IP allowlist turned ${turnsOn ? "on" : "off"}`, { userId: caller.userId });
  }
  return config;
}

/**
 * Stops enforcement, for an operator at the command line who is locked out, and writes that into the
 * compliance log. It is stopped even when that cannot be written: a damaged log must not keep the
 * operator out.
 *
 * @returns Whether it was enforced; `unrecorded` is why the compliance log has no entry of it.
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
