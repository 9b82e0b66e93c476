/**
 * /uptime: what the checks of the monitors came to, and the outages.
 *
 * @module
 */

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
import { endpoint } from "../endpoint.ts";
import { IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const Check = z.object({
  monitor_id: z.string(),
  status: z.enum(["up", "down"]).meta({ description: "What this check alone came to" }),
  response_time_ms: z.int().nullable().meta({
    description: "Null where no answer came",
    example: 84,
  }),
  status_code: z.int().nullable().meta({ example: 503 }),
  error: z.string().nullable().meta({ example: "The status is 503, not 200-299" }),
  checked_at: Timestamp,
}).meta({ id: "MonitorCheck" });

const Stats = z.object({
  uptime_percent: z.number().nullable().meta({
    description: "Of the time in which the state was known; null while it is not",
    example: 99.9306,
  }),
  avg_response_time_ms: z.int().nullable().meta({
    description: "Of the checks that succeeded",
    example: 84,
  }),
  p95_response_time_ms: z.int().nullable().meta({
    description: "At most 5 % too high",
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
  started_at: Timestamp.meta({ description: "The first of the failed checks" }),
  resolved_at: Timestamp.nullable(),
  duration_seconds: z.int().meta({ example: 95 }),
}).meta({ id: "Outage" });

const OutageQuery = z.object({
  monitor_id: z.string().min(1).max(255).optional(),
  status: z.enum(OUTAGE_STATUSES).optional(),
  ...pagingQuery(50),
});

const UNKNOWN = { 404: "The monitor does not exist" };

/** Under the edition's prefix. */
export const uptimeHistoryEndpoints = (deps: Deps) => [
  endpoint({
    method: "post",
    path: "/uptime/monitors/:id/check",
    operationId: "checkMonitor",
    summary: "Check a monitor now",
    description:
      "The check is recorded and counts like any other. If a check is already running, its " +
      "result is returned. A check of a paused monitor is recorded but has no other effect.",
    role: "operator",
    permission: "uptime:write",
    params: IdParams,
    returns: Check,
    failures: { 409: "The monitor changed meanwhile, or its secrets are unreadable", ...UNKNOWN },
  }, async ({ params }) => shownCheck(await checkMonitor(deps, params.id))),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id/checks",
    operationId: "listMonitorChecks",
    summary: "List checks of a monitor",
    description: "Newest first. Kept for 7 days, at most the last 10,000.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    query: z.object(pagingQuery(50)),
    returns: paged({ checks: z.array(Check) }).meta({ id: "MonitorCheckPage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { checks, ...page } = listChecks(deps, params.id, query);
    return { checks: checks.map(shownCheck), ...page };
  }),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id/stats",
    operationId: "getMonitorStats",
    summary: "Get monitor statistics",
    description:
      "For the last 24 hours, 7 days and 30 days. Checks are counted in whole quarters of " +
      "an hour or whole hours; uptime and downtime are exact.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    returns: z.object({ stats: z.object({ "24h": Stats, "7d": Stats, "30d": Stats }) }).meta({
      id: "MonitorStats",
    }),
    failures: UNKNOWN,
  }, ({ params }) => {
    const stats = getUptimeStats(deps, params.id);
    return {
      stats: {
        "24h": shownStats(stats["24h"]),
        "7d": shownStats(stats["7d"]),
        "30d": shownStats(stats["30d"]),
      },
    };
  }),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id/incidents",
    operationId: "listMonitorOutages",
    summary: "List outages of a monitor",
    description: "Newest first, kept for 400 days.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    query: z.object(pagingQuery(50)),
    returns: paged({ incidents: z.array(Outage) }).meta({ id: "OutagePage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { outages, ...page } = listMonitorOutages(deps, params.id, query);
    return { incidents: outages.map(shownOutage), ...page };
  }),

  endpoint({
    method: "get",
    path: "/uptime/incidents",
    operationId: "listOutages",
    summary: "List outages",
    description: "Newest first, kept for 400 days, including outages of deleted monitors.",
    role: "viewer",
    permission: "uptime:read",
    query: OutageQuery,
    returns: paged({ incidents: z.array(Outage) }).meta({ id: "OutagePage" }),
  }, ({ query: { monitor_id, ...query } }) => {
    const { outages, ...page } = listOutages(deps, { ...query, monitorId: monitor_id });
    return { incidents: outages.map(shownOutage), ...page };
  }),
];

const shownCheck = (check: Check): z.input<typeof Check> => ({
  monitor_id: check.monitorId,
  status: check.status,
  response_time_ms: check.responseTimeMs,
  status_code: check.statusCode,
  error: check.error,
  checked_at: check.checkedAt,
});

const shownStats = (stats: UptimeStats): z.input<typeof Stats> => ({
  uptime_percent: stats.uptimePercent,
  avg_response_time_ms: stats.avgResponseTimeMs,
  p95_response_time_ms: stats.p95ResponseTimeMs,
  total_checks: stats.totalChecks,
  total_downtime_seconds: stats.totalDowntimeSeconds,
});

const shownOutage = (outage: Outage): z.input<typeof Outage> => ({
  id: outage.id,
  monitor_id: outage.monitorId,
  monitor_name: outage.monitorName,
  status: outage.status,
  cause: outage.cause,
  started_at: outage.startedAt,
  resolved_at: outage.resolvedAt,
  duration_seconds: outage.durationSeconds,
});
