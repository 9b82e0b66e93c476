/** Shapes of alert rules and of their events. @module */

import * as z from "zod";
import { ALERT_METRIC_IDS, ALERT_METRICS } from "../../services/alerts/metrics/mod.ts";
import { ALERT_OPERATORS } from "../../services/alerts/rules.ts";
import { SEVERITIES } from "../../services/events/message.ts";

export const MetricId = z.enum(ALERT_METRIC_IDS).meta({
  id: "AlertMetric",
  description: ALERT_METRICS.map(({ id, description }) => `${id}: ${description}`).join(". "),
});

export const Operator = z.enum(ALERT_OPERATORS).meta({ id: "AlertOperator" });

export const Severity = z.enum(SEVERITIES);

export const ValueText = z.string().meta({
  description: "The value with its unit",
  example: "97.2 %",
});

export const InhibitedBy = z.enum(["maintenance", "silence"]).nullable().meta({
  description: "Why no messages are sent about it at the moment; a rule, if this applies to all " +
    "of its containers that are not ok",
});
