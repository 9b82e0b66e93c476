/** Conditions of alert and remediation rules in words. @module */

import type { AlertOperator } from "../api/types.ts";
import { bytes, duration } from "../base/text.ts";

export interface MetricWords {
  name: string;
  /** Of the threshold. */
  unit?: string;
  /** The value is 1 or 0. */
  isState?: boolean;
}

export const OPERATORS: Record<AlertOperator, string> = {
  ">": "> (above)",
  ">=": "≥ (at least)",
  "<": "< (below)",
  "<=": "≤ (at most)",
  "==": "= (equal to)",
};

/** For a field of a form. */
export const OPERATOR_OPTIONS = Object.entries(OPERATORS).map(([value, name]) => ({ value, name }));

/** Metrics with their units, for a field of a form. */
export const metricOptions = (metrics: Record<string, MetricWords>) =>
  Object.entries(metrics).map(([value, { name, unit }]) => ({
    value,
    name: unit === undefined ? name : `${name} (${unit})`,
  }));

/** E.g. `97.2 %`. */
export function valueText({ unit }: MetricWords, value: number): string {
  if (unit === "B") return bytes(value);
  if (unit === "B/s") return `${bytes(value)}/s`;
  const text = value.toLocaleString("en", { maximumFractionDigits: 2 });
  return unit === undefined ? text : `${text} ${unit}`;
}

/** E.g. `CPU > 90 % for 1 min`, `Container is down`. */
export function conditionText(
  metric: MetricWords,
  operator: AlertOperator,
  threshold: number,
  seconds: number,
): string {
  const sign = OPERATORS[operator].split(" ")[0];
  const isPlain = metric.isState && operator === "==" && threshold === 1;
  const comparison = isPlain ? "" : ` ${sign} ${valueText(metric, threshold)}`;
  const time = seconds > 0 ? ` for ${exactDuration(seconds)}` : "";
  return metric.name + comparison + time;
}

/** In seconds where another unit would round it. */
const exactDuration = (seconds: number): string =>
  seconds > 60 && seconds % 60 !== 0 ? `${seconds.toLocaleString("en")} s` : duration(seconds);
