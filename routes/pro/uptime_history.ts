/** /uptime: checks, statistics and outages of monitors. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  listMonitorOutages,
  listOutages,
  type Outage,
  OUTAGE_STATUSES,
} from "../../services/pro/uptime/outages.ts";
import { type Check, checkMonitor, listChecks } from "../../services/pro/uptime/checks.ts";
import { getUptimeStats, type UptimeStats } from "../../services/pro/uptime/stats.ts";
import { endpoint } from "../contract/endpoint.ts";
import { paged, pagingQuery, Timestamp } from "../contract/shapes.ts";

const Check = z.object({
  monitor_id: z.string(),
  status: z.enum(["up", "down"]).meta({ description: "Result of this check alone" }),
  response_time_ms: z.int().nullable().meta({
    description: "null without a response",
    example: 84,
  }),
  status_code: z.int().nullable().meta({ example: 503 }),
  error: z.string().nullable().meta({ example: "The status is 503, not 200-299" }),
  checked_at: Timestamp,
}).meta({ id: "MonitorCheck" });

const Stats = z.object({
  uptime_percent: z.number().nullable().meta({
    description: "Percent of the known time; null without any",
    example: 99.9306,
  }),
  avg_response_time_ms: z.int().nullable().meta({
    description: "Average of the successful checks",
    example: 84,
  }),
  p95_response_time_ms: z.int().nullable().meta({
    description: "Up to 5 % above the exact value",
    example: 210,
  }),
  total_checks: z.int().meta({ example: 2_879 }),
  total_downtime_seconds: z.int().meta({ example: 60 }),
}).meta({ id: "UptimeStats" });

const Outage = z.object({
  id: z.string(),
  monitor_id: z.string(),
  monitor_name: z.string(),
  status: z.enum(OUTAGE_STATUSES),
  cause: z.string().meta({ example: "The status is 503, not 200-299" }),
  started_at: Timestamp.meta({ description: "Time of the first failed check" }),
  resolved_at: Timestamp.nullable(),
  duration_seconds: z.int().meta({ example: 95 }),
}).meta({ id: "Outage" });

const OutageQuery = z.object({
  monitor_id: z.string().min(1).max(255).optional(),
  status: z.enum(OUTAGE_STATUSES).optional(),
  ...pagingQuery(50),
});

const UNKNOWN = { 404: "The monitor does not exist" };

const READ = { role: "viewer", permission: "uptime:read" } as const;
const WRITE = { role: "operator", permission: "uptime:write" } as const;

/** Under the edition's prefix. */
export const uptimeHistoryEndpoints = (deps: Deps) => [
  endpoint("POST /uptime/monitors/:id/check", {
    operationId: "checkMonitor",
    summary: "Check a monitor now",
    description:
      "The check is recorded and counts like any other. If a check is already running, its " +
      "result is returned. A check of a paused monitor is recorded but has no other effect.",
    ...WRITE,
    returns: Check,
    failures: {
      409: "The monitor has changed during the check, or its secrets cannot be decrypted",
      ...UNKNOWN,
    },
  }, async ({ params }) => checkOf(await checkMonitor(deps, params.id))),

  endpoint("GET /uptime/monitors/:id/checks", {
    operationId: "listMonitorChecks",
    summary: "List checks of a monitor",
    description: "Newest first. Kept for 7 days, at most the last 10,000.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ checks: z.array(Check) }).meta({ id: "MonitorCheckPage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { checks, ...page } = listChecks(deps, params.id, query);
    return { checks: checks.map(checkOf), ...page };
  }),

  endpoint("GET /uptime/monitors/:id/stats", {
    operationId: "getMonitorStats",
    summary: "Get monitor statistics",
    description:
      "For the last 24 hours, 7 days and 30 days. Checks are counted in whole quarters of " +
      "an hour or whole hours; uptime and downtime are exact.",
    ...READ,
    returns: z.object({ stats: z.object({ "24h": Stats, "7d": Stats, "30d": Stats }) }).meta({
      id: "MonitorStats",
    }),
    failures: UNKNOWN,
  }, ({ params }) => {
    const stats = getUptimeStats(deps, params.id);
    return {
      stats: {
        "24h": statsOf(stats["24h"]),
        "7d": statsOf(stats["7d"]),
        "30d": statsOf(stats["30d"]),
      },
    };
  }),

  endpoint("GET /uptime/monitors/:id/incidents", {
    operationId: "listMonitorOutages",
    summary: "List outages of a monitor",
    description: "Newest first, kept for 400 days.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ incidents: z.array(Outage) }).meta({ id: "OutagePage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { outages, ...page } = listMonitorOutages(deps, params.id, query);
    return { incidents: outages.map(outageOf), ...page };
  }),

  endpoint("GET /uptime/incidents", {
    operationId: "listOutages",
    summary: "List outages",
    description: "Newest first, kept for 400 days, including outages of deleted monitors.",
    ...READ,
    query: OutageQuery,
    returns: paged({ incidents: z.array(Outage) }).meta({ id: "OutagePage" }),
  }, ({ query: { monitor_id, ...query } }) => {
    const { outages, ...page } = listOutages(deps, { ...query, monitorId: monitor_id });
    return { incidents: outages.map(outageOf), ...page };
  }),
];

const checkOf = (check: Check): z.input<typeof Check> => ({
  monitor_id: check.monitorId,
  status: check.status,
  response_time_ms: check.responseTimeMs,
  status_code: check.statusCode,
  error: check.error,
  checked_at: check.checkedAt,
});

const statsOf = (stats: UptimeStats): z.input<typeof Stats> => ({
  uptime_percent: stats.uptimePercent,
  avg_response_time_ms: stats.avgResponseTimeMs,
  p95_response_time_ms: stats.p95ResponseTimeMs,
  total_checks: stats.totalChecks,
  total_downtime_seconds: stats.totalDowntimeSeconds,
});

const outageOf = (outage: Outage): z.input<typeof Outage> => ({
  id: outage.id,
  monitor_id: outage.monitorId,
  monitor_name: outage.monitorName,
  status: outage.status,
  cause: outage.cause,
  started_at: outage.startedAt,
  resolved_at: outage.resolvedAt,
  duration_seconds: outage.durationSeconds,
});
