/**
 * Compliance entries of the service's own actions: remediation, and schedules that failed. Events
 * that it only observes (an alert, a container that ends) are not actions and have no entry.
 *
 * @module
 */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import type { AppEvent } from "../../events/events.ts";
import type { Recorder } from "../../events/recorder.ts";
import { chainEntry, type NewEntry, SYSTEM, tellLost } from "./append.ts";

/** Sentences of the engine may be long. */
const ERROR_MAX = 500;

export const complianceRecorder: Recorder = {
  edition: "enterprise",
  isProtection: true,
  record(deps, event) {
    const entry = actEntry(event);
    if (!entry) return undefined;
    try {
      if (selectComplianceConfig(deps.db).enabled) chainEntry(deps, entry);
    } catch (error) {
      // The action has happened, whether its entry can be stored or not.
      tellLost(deps, entry, error);
    }
    return undefined;
  },
};

/** The entry of an action of the service; `undefined` for every other event. */
function actEntry(event: AppEvent): NewEntry | undefined {
  const common = { ...SYSTEM, category: "container", recorded_by: null } as const;
  switch (event.event) {
    case "remediation.executed": {
      const { rule, ruleId, action, target, status, error } = event.data;
      const succeeded = status === "success";
      return {
        ...common,
        severity: succeeded ? "info" : "warning",
        action: "remediation.executed",
        resource_type: "containers",
        resource_id: target,
        detail: `Rule ${rule}: ${action} ${target}: ${status}`,
        outcome: succeeded ? "success" : "failure",
        metadata: { rule_id: ruleId, rule, action, error: shortened(error) },
      };
    }
    case "remediation.disabled": {
      const { rule, ruleId, reason } = event.data;
      return {
        ...common,
        category: "configuration",
        severity: "warning",
        action: "remediation.disabled",
        resource_type: "remediation",
        resource_id: ruleId,
        detail: `Rule ${rule} was disabled: ${reason}`,
        outcome: "success",
        metadata: { rule },
      };
    }
    case "schedule.failed": {
      const { schedule, scheduleId, container, action, error } = event.data;
      return {
        ...common,
        severity: "warning",
        action: "schedule.failed",
        resource_type: "containers",
        resource_id: container,
        detail: `Schedule ${schedule} failed: ${action} ${container}`,
        outcome: "failure",
        metadata: { schedule_id: scheduleId, schedule, action, error: shortened(error) },
      };
    }
    default:
      return undefined;
  }
}

/** Never half of a surrogate pair, for such a text has no canonical form. */
const shortened = (text: string | null) => text && text.slice(0, ERROR_MAX).toWellFormed();
