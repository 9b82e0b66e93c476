/**
 * Compliance entries of the service's own actions (remediation, failed schedules, deploys of commits)
 * and of sign-ins from new clients. Observed events (an alert, a stopped container) have no entry.
 *
 * @module
 */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import type { AppEvent } from "../../events/events.ts";
import type { Recorder } from "../../events/recorder.ts";
import { chainEntry, logLostEntry, type NewEntry, OWN_ENTRY, SYSTEM } from "./append.ts";

/** Maximum length of an error message from the engine. */
const ERROR_MAX = 500;

export const complianceRecorder: Recorder = {
  edition: "enterprise",
  isProtection: true,
  record(deps, event) {
    const entry = actionEntry(event);
    if (!entry) return undefined;
    try {
      if (selectComplianceConfig(deps.db).enabled) chainEntry(deps, entry);
    } catch (error) {
      // The action has happened even if its entry cannot be stored.
      logLostEntry(deps, entry, error);
    }
    return undefined;
  },
};

/** Creates the entry of an action; `undefined` for any other event. */
function actionEntry(event: AppEvent): NewEntry | undefined {
  const common = { ...OWN_ENTRY, ...SYSTEM, category: "container" } as const;
  switch (event.event) {
    case "remediation.executed": {
      const { rule, ruleId, action, target, status, error } = event.data;
      const isSuccess = status === "success";
      return {
        ...common,
        severity: isSuccess ? "info" : "warning",
        action: "remediation.executed",
        resource_type: "containers",
        resource_id: target,
        detail: `Rule ${rule}: ${action} ${target}: ${status}`,
        outcome: isSuccess ? "success" : "failure",
        metadata: { rule_id: ruleId, rule, action, error: shorten(error) },
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
        metadata: { rule },
      };
    }
    case "deploy.succeeded":
    case "deploy.rolled_back":
    case "deploy.failed":
    case "deploy.needs_attention": {
      const { stack, version, commit, author, message, signer = null } = event.data;
      // Other deploys have the entries of their requests.
      if (commit === undefined) return undefined;
      const isSuccess = event.event === "deploy.succeeded";
      return {
        ...common,
        severity: isSuccess ? "info" : "warning",
        action: event.event,
        resource_type: "stacks",
        resource_id: stack,
        detail: `Commit ${commit} ${isSuccess ? "was deployed" : "could not be deployed"}`,
        outcome: isSuccess ? "success" : "failure",
        metadata: { commit, author: shorten(author!), message: shorten(message!), signer, version },
      };
    }
    case "schedule.failed": {
      const { schedule, scheduleId, container, stack, subject, action, error } = event.data;
      return {
        ...common,
        severity: "warning",
        action: "schedule.failed",
        resource_type: container !== undefined
          ? "containers"
          : stack !== undefined
          ? "stacks"
          : null,
        resource_id: container ?? stack ?? null,
        detail: `Schedule ${schedule} failed: ${action} ${subject ?? container}`,
        outcome: "failure",
        metadata: { schedule_id: scheduleId, schedule, action, error: shorten(error) },
      };
    }
    case "account.new_sign_in": {
      const { account, userId, sessionId, address, userAgent } = event.data;
      return {
        ...common,
        category: "authentication",
        severity: "warning",
        action: "account.new_sign_in",
        resource_type: "users",
        resource_id: userId,
        detail: `${account} signed in from a new address or browser: ${address}`,
        metadata: { session_id: sessionId, address, user_agent: userAgent },
      };
    }
    case "account.access_changed":
    case "account.factor_changed": {
      const { account, userId, change, address } = event.data;
      return {
        ...common,
        category: "authentication",
        severity: "warning",
        action: event.event,
        resource_type: "users",
        resource_id: userId,
        detail: `${account}: ${change}`,
        metadata: { address },
      };
    }
    default:
      return undefined;
  }
}

/** The cut must not leave a lone surrogate, which has no canonical form. */
const shorten = (text: string | null) => text && text.slice(0, ERROR_MAX).toWellFormed();
