/**
 * Rules to begin with: each can be created as it is. None repeats an event that is sent without a
 * rule, such as `engine.down`.
 *
 * @module
 */

import { ALERT_METRICS } from "./metrics/mod.ts";
import { completeSettings, type NewAlertRule } from "./settings.ts";
import { conditionText } from "./text.ts";

export interface AlertTemplate {
  id: string;
  /** Its purpose, in one sentence. */
  description: string;
  /** Its condition in words. */
  condition: string;
  rule: NewAlertRule;
}

/** The most important first. */
export const ALERT_TEMPLATES: readonly AlertTemplate[] = ALERT_METRICS.flatMap((
  { id: metric, operator, recommended = [], target: kind },
) =>
  recommended.map(({ id, description, ...own }) => {
    const rule: NewAlertRule = {
      autoIncident: false,
      metric,
      operator,
      ...own,
      ...(kind !== "host" && { scope: { target: { kind } } }),
    };
    return { id, description, condition: conditionText(completeSettings(rule)), rule };
  })
);
