/**
 * Alert conditions in words.
 *
 * @module
 */

import type { AlertMetric, AlertRule } from "../../api/types.ts";
import { conditionText, type MetricWords, valueText } from "../conditions.ts";

export const METRICS: Record<AlertMetric, MetricWords> = {
  cpu_percent: { name: "CPU", unit: "%" },
  memory_percent: { name: "Memory", unit: "%" },
  disk_percent: { name: "Disk", unit: "%" },
  load_1: { name: "Load (1 min)" },
  container_stopped: { name: "Stopped containers" },
};

/** E.g. `97.2 %`. */
export const valueOf = (metric: AlertMetric, value: number): string =>
  valueText(METRICS[metric], value);

/** E.g. `CPU > 90 % for 1 min`. */
export const conditionOf = (
  { metric, operator, threshold, durationSeconds }: Pick<
    AlertRule,
    "metric" | "operator" | "threshold" | "durationSeconds"
  >,
): string => conditionText(METRICS[metric], operator, threshold, durationSeconds);
