/** Choices of conditions in forms of alert and remediation rules. @module */

import type { AlertOperator } from "../api/types.ts";
import { groupsOf, type Worded } from "./kinds.tsx";

const OPERATORS: Record<AlertOperator, string> = {
  ">": "> (above)",
  ">=": "≥ (at least)",
  "<": "< (below)",
  "<=": "≤ (at most)",
  "==": "= (equal to)",
};

export const OPERATOR_OPTIONS = Object.entries(OPERATORS).map(([value, name]) => ({ value, name }));

/** Metrics by their group, with their units. */
export const metricOptions = (metrics: readonly (Worded & { unit: string | null })[]) =>
  groupsOf(metrics.map(({ words, unit, ...metric }) => ({
    ...metric,
    words: unit === null ? words : `${words} (${unit})`,
  })));
