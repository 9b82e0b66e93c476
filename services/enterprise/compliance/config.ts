/** Settings of the compliance log: which requests it records, and its retention. @module */

import {
  type ComplianceConfig,
  selectComplianceConfig,
  updateComplianceConfig,
} from "../../../db/enterprise/compliance_config.ts";
import type { Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { actorOf, chainEntry, OWN_ENTRY } from "./append.ts";

export { EXPORT_FORMATS, HASH_ALGORITHMS } from "../../../db/enterprise/compliance_config.ts";

export const RETENTION_DAYS_MAX = 3_650;

export function getComplianceConfig({ db }: Pick<Deps, "db">): ComplianceConfig {
  return selectComplianceConfig(db);
}

/**
 * Changes the given settings and records the old and new ones in the same transaction. The change
 * that turns the log off is recorded, too.
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
      const isTurnedOff = before.enabled && !after.enabled;
      chainEntry(deps, {
        ...OWN_ENTRY,
        ...actorOf(caller),
        severity: isTurnedOff ? "warning" : "info",
        action: "compliance.config_updated",
        resource_type: "compliance",
        resource_id: "config",
        detail: isTurnedOff ? "The compliance log was turned off" : null,
        metadata: { address: caller.address, before: { ...before }, after: { ...after } },
      });
    }
    updateComplianceConfig(db, after);
    return after;
  });
}
