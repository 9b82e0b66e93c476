/** Fields of each metric of alert rules, and their defaults. @module */

import type { AlertRuleSettings, AlertScope } from "../../db/alert_rules.ts";
import { assertMayDo, type Caller } from "../access/caller.ts";
import type { Change } from "../change.ts";
import { AppError } from "../errors.ts";
import { compileLinearPattern } from "../input/linear_pattern.ts";
import type { Metric } from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";

/** Fields that a new rule may leave out. */
type Optional =
  | "severity"
  | "scope"
  | "pattern"
  | "path"
  | "windowSeconds"
  | "forMissingDataSeconds";

export type NewAlertRule =
  & Omit<AlertRuleSettings, Optional | "enabled">
  & Change<Pick<AlertRuleSettings, Optional>>;

/**
 * Adds the defaults, and removes what another metric left.
 *
 * @param given The fields of the request.
 * @throws {AppError} `invalid` for a given field that the metric does not have, and for a scope that
 * it cannot have.
 */
export function completeSettings<Settings extends NewAlertRule>(
  settings: Settings,
  given: Change<AlertRuleSettings> = settings,
): Settings & Omit<AlertRuleSettings, "enabled"> {
  const metric = alertMetric(settings.metric);
  const { hasPath, hasPattern, id, windowSeconds } = metric;
  const refuse = (field: "pattern" | "path" | "windowSeconds", isKnown = false) => {
    if (isKnown || given[field] === undefined || given[field] === null) return;
    throw new AppError("invalid", `body.${field}: is not used by ${id}; leave it out`);
  };
  refuse("pattern", hasPattern);
  refuse("path", hasPath);
  refuse("windowSeconds", windowSeconds !== undefined);
  const pattern = hasPattern ? settings.pattern ?? null : null;
  if (hasPattern && pattern === null) {
    throw new AppError("invalid", `body.pattern: is required for ${id}`);
  }
  return {
    ...settings,
    severity: settings.severity ?? "warning",
    scope: completeScope(metric, settings.scope, given.scope),
    pattern,
    path: hasPath ? settings.path ?? null : null,
    windowSeconds: windowSeconds === undefined ? null : settings.windowSeconds ?? windowSeconds,
    forMissingDataSeconds: settings.forMissingDataSeconds ?? null,
  };
}

/**
 * Checks the pattern of a rule as log searches check theirs. Counting matches answers questions about
 * the log.
 *
 * @throws {AppError} `invalid`; `forbidden` for a caller who may not read logs.
 */
export async function assertAlertPattern(
  caller: Caller,
  { metric, pattern }: { metric: string; pattern?: string | null | undefined },
): Promise<void> {
  if (alertMetric(metric).hasPattern) assertMayDo(caller, "viewer", "containers:logs");
  if (pattern) await compileLinearPattern(pattern, { field: "body.pattern" });
}

function completeScope(
  { id, target: kind }: Metric,
  scope: AlertScope | undefined,
  given: AlertScope | undefined,
): AlertScope {
  if (given && given.target.kind !== kind) {
    throw new AppError(
      "invalid",
      `body.scope.target.kind: ${id} is measured for ${
        kind === "host" ? "the host" : kind
      }; set it to ${kind}`,
    );
  }
  return scope?.target.kind === kind ? scope : { target: { kind } };
}
