/** Shapes of SLA definitions, periods and breaches. @module */

import * as z from "zod";
import { PERIOD_TYPES } from "../../../services/pro/sla/definitions.ts";
import { PERIOD_STATUSES } from "../../../services/pro/sla/periods.ts";
import { Timestamp } from "../../contract/shapes.ts";

/** Percent. */
export const TargetUptime = z.number()
  .gt(0)
  .lt(100)
  .meta({ description: "Percent", example: 99.9 });

const ActualUptime = z.number().nullable().meta({
  description: "Percent of the known time; null while less than 1 % of the elapsed time is known",
  example: 99.95,
});

const Downtime = z.int().meta({
  description: "Seconds during which at least one monitor was down",
  example: 1296,
});

const BurnRate = z.number().meta({
  description: "Used share of the budget, divided by the elapsed share of the period. At 1, the " +
    "budget lasts exactly until the end of the period",
  example: 0.5,
});

export const SlaDefinition = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  target_uptime: TargetUptime,
  period_type: z.enum(PERIOD_TYPES),
  monitor_ids: z.array(z.string()),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "SlaDefinition" });

export const SlaPeriod = z.object({
  id: z.string(),
  sla_id: z.string(),
  period_type: z.enum(PERIOD_TYPES),
  start_date: z.iso.date(),
  end_date: z.iso.date().meta({ description: "The last day of the period" }),
  actual_uptime: ActualUptime,
  target_uptime: TargetUptime,
  total_downtime_seconds: Downtime,
  coverage_percent: z.number().meta({
    description:
      "Known share of the elapsed time, as the mean of all monitors. Unknown time counts " +
      "neither as uptime nor as downtime",
    example: 100,
  }),
  is_breached: z.boolean().meta({ description: "Whether the downtime exceeds the budget" }),
  status: z.enum(PERIOD_STATUSES),
  calculated_at: Timestamp,
}).meta({ id: "SlaPeriod" });

export const SlaBudget = z.object({
  total_budget_minutes: z.number().meta({
    description: "Allowed downtime of the whole period",
    example: 43.2,
  }),
  used_minutes: z.number(),
  remaining_minutes: z.number().meta({ description: "Negative if the budget is exceeded" }),
  remaining_percentage: z.number().meta({ description: "At least 0" }),
  is_breached: z.boolean(),
  burn_rate: BurnRate,
}).meta({ id: "SlaBudget" });

export const CurrentPeriod = z.object({ period: SlaPeriod, burn_rate: BurnRate }).meta({
  id: "CurrentSlaPeriod",
});

export const SlaStatus = CurrentPeriod.extend({ budget: SlaBudget }).meta({ id: "SlaStatus" });

export const SlaBreach = z.object({
  id: z.string(),
  sla_id: z.string(),
  period_id: z.string(),
  breached_at: Timestamp.meta({ description: "When the downtime exceeded the budget" }),
  actual_uptime: ActualUptime,
  coverage_percent: z.number().meta({ description: "Known share of the elapsed time" }),
  target_uptime: TargetUptime,
  total_downtime_seconds: Downtime,
}).meta({ id: "SlaBreach" });

export const SlaReport = z.object({
  definition: SlaDefinition,
  current_status: SlaStatus,
  periods: z.array(SlaPeriod),
  breaches: z.array(SlaBreach),
  burn_rate_chart: z.array(z.object({ date: z.iso.date(), burn_rate: BurnRate })),
}).meta({ id: "SlaReport" });
