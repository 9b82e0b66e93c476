/**
 * What the compliance log takes down, and for how long.
 *
 * @module
 */

import {
  type ComplianceConfig,
  selectComplianceConfig,
  updateComplianceConfig,
} from "../../../db/enterprise/compliance_config.ts";
import type { Caller } from "../../auth/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { actorOf, chainEntry } from "./append.ts";

export { EXPORT_FORMATS, HASH_ALGORITHMS } from "../../../db/enterprise/compliance_config.ts";
export type { ComplianceConfig };

export const RETENTION_DAYS_MAX = 3_650;

export function getComplianceConfig({ db }: Pick<Deps, "db">): ComplianceConfig {
  return selectComplianceConfig(db);
}

/**
 * Changes what is given, and writes down what it was and what it is, in one transaction: also the
 * change that turns the log off is in it.
 */
export function changeComplianceConfig(
  deps: Pick<Deps, "db" | "now">,
  caller: Caller,
  change: Change<ComplianceConfig>,
): ComplianceConfig {
  const { db } = deps;
  return db.transaction(() => {
    const before = selectComplianceConfig(db);
    const after = applyChange(before, change);
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
