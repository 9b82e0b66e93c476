/**
 * What the compliance log takes down, and for how long.
 *
 * @module
 */

import {
  type ComplianceConfig,
  selectComplianceConfig,
  updateComplianceConfig,
} from "../../db/enterprise/compliance_config.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { actorOf, chainEntry } from "./compliance_append.ts";

export { EXPORT_FORMATS, HASH_ALGORITHMS } from "../../db/enterprise/compliance_config.ts";
export type { ComplianceConfig };

export const RETENTION_DAYS_MAX = 3_650;

export function describeCompliance({ db }: Pick<Deps, "db">): ComplianceConfig {
  return selectComplianceConfig(db);
}

/**
 * Changes what is given, and writes down what it was and what it is, in one transaction: also the
 * change that turns the log off is in it.
 */
export function changeCompliance(
  deps: Pick<Deps, "db" | "now">,
  caller: Caller,
  change: { [Field in keyof ComplianceConfig]?: ComplianceConfig[Field] | undefined },
): ComplianceConfig {
  const { db } = deps;
  return db.transaction(() => {
    const before = selectComplianceConfig(db);
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    const after: ComplianceConfig = { ...before, ...Object.fromEntries(given) };
    if (before.enabled || after.enabled) {
      const turnedOff = before.enabled && !after.enabled;
      chainEntry(deps, {
        ...actorOf(caller),
        category: "security",
        severity: turnedOff ? "warning" : "info",
        action: "compliance.config_updated",
        resource_type: "compliance",
        resource_id: "config",
        detail: turnedOff ? "The compliance log was turned off" : null,
        outcome: "success",
        metadata: { address: caller.address, before: { ...before }, after: { ...after } },
        recorded_by: null,
      });
    }
    updateComplianceConfig(db, after);
    return after;
  });
}
