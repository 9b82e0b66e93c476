/**
 * /uptime: monitors, their checks, and their outages.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { OUTBOUND_URL_MAX } from "../../services/outbound_url.ts";
import { RECORD_TYPES } from "../../services/pro/dns_lookup.ts";
import { EXPECTED_STATUS_MAX } from "../../services/pro/expected_status.ts";
import {
  MONITOR_DEFAULTS,
  MONITOR_HEADERS_MAX,
  MONITOR_METHODS,
  type MonitorChange,
} from "../../services/pro/monitor_settings.ts";
import {
  listOutages,
  listOutagesOf,
  type Outage,
  OUTAGE_STATUSES,
} from "../../services/pro/outages.ts";
import { type Check, checkMonitor, listChecks } from "../../services/pro/uptime_checks.ts";
import {
  changeMonitor,
  createMonitor,
  getMonitor,
  listMonitors,
  type Monitor,
  MONITOR_TYPES,
  pauseMonitor,
  removeMonitor,
  resumeMonitor,
} from "../../services/pro/uptime_monitors.ts";
import { getUptimeStats, type UptimeStats } from "../../services/pro/uptime_stats.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const fields = {
  name: z.string().trim().min(1).max(100),
  type: z.enum(MONITOR_TYPES),
  url: z.string().min(1).max(OUTBOUND_URL_MAX).meta({
    description: "http: a URL; tcp: `host:port`; dns: the name to look up. Loopback, link-local " +
      "and otherwise special addresses are refused unless the operator lists them in " +
      "`OUTBOUND_ALLOW`",
  }),
  method: z.enum(MONITOR_METHODS).nullable().meta({
    description: `http only; default \`${MONITOR_DEFAULTS.method}\``,
  }),
  expected_status: z.union([
    z.int().min(100).max(599),
    z.string().min(1).max(EXPECTED_STATUS_MAX),
  ], { error: "must be a status like 200 or a range like 200-299" }).nullable().meta({
    description: "http only: a status, or statuses and ranges as text, e.g. `200-299,301`; " +
      `default ${MONITOR_DEFAULTS.expectedStatus}`,
  }),
  keyword: z.string().min(1).max(1_000).nullable().meta({
    description: "http only: has to be in the first 1 MiB of the answer, in this case of letters",
  }),
  record_type: z.enum(RECORD_TYPES).nullable().meta({
    description: `dns only; default \`${MONITOR_DEFAULTS.recordType}\``,
  }),
  expected: z.string().trim().min(1).max(1_000).nullable().meta({
    description: "dns only: has to be one of the answers. Without it any answer will do",
  }),
  timeout_ms: z.int().min(100).max(60_000).meta({
    description: `For the whole check; default ${MONITOR_DEFAULTS.timeoutMs}`,
  }),
  interval_seconds: z.int().min(5).max(86_400).meta({
    description: `Default ${MONITOR_DEFAULTS.intervalSeconds}`,
  }),
  retries: z.int().min(0).max(5).meta({
    description: "So many failures in a row are looked at again, after 10 s at most, before one " +
      `more makes the monitor down; default ${MONITOR_DEFAULTS.retries}`,
  }),
  headers: z.record(z.string(), z.string())
    .refine((headers) => Object.keys(headers).length <= MONITOR_HEADERS_MAX, {
      error: `must be at most ${MONITOR_HEADERS_MAX}`,
    })
    .meta({
      description: "http only. Values are stored encrypted and shown as `********`; sent back " +
        "like that in an update they keep their value",
    }),
  body: z.string().max(65_536).nullable().meta({
    description: "http only. Stored encrypted and shown as `********`, like a header's value",
  }),
  auto_incident: z.boolean().meta({
    description: "Whether an incident is opened when it goes down, and resolved when it comes " +
      "back; default false",
  }),
};

const EXAMPLE = {
  name: "Shop",
  type: "http",
  url: "https://shop.example.com/health",
  expected_status: "200-299",
  keyword: "ok",
  interval_seconds: 30,
  retries: 2,
  headers: { authorization: "Bearer 4f1c" },
  auto_incident: true,
};

const { name, type, url, ...settings } = fields;

const NewMonitor = z.object({ name, type, url, ...z.object(settings).partial().shape })
  .meta({ example: EXAMPLE });

const MonitorChange = z.object(fields).partial()
  .meta({ example: { ...EXAMPLE, headers: { authorization: "********" } } });

const Monitor = z.object({
  id: z.string(),
  ...fields,
  status: z.enum(["up", "down", "pending", "paused"]).meta({
    description: "`pending` until the checks came to something",
  }),
  last_checked_at: Timestamp.nullable(),
  last_response_time_ms: z.int().nullable().meta({ description: "Null where no answer came" }),
  uptime_24h: z.number().nullable().meta({
    description: "Percent of the last 24 hours, without the time in which nothing was known; " +
      "null while nothing is",
    example: 99.9306,
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const Check = z.object({
  monitor_id: z.string(),
  status: z.enum(["up", "down"]).meta({ description: "What this check alone came to" }),
  response_time_ms: z.int().nullable().meta({ description: "Null where no answer came" }),
  status_code: z.int().nullable(),
  error: z.string().nullable(),
  checked_at: Timestamp,
});

const Stats = z.object({
  uptime_percent: z.number().nullable().meta({
    description: "Of the time in which the state was known; null while it is not",
  }),
  avg_response_time_ms: z.int().nullable().meta({ description: "Of the checks that succeeded" }),
  p95_response_time_ms: z.int().nullable().meta({ description: "At most 5 % too high" }),
  total_checks: z.int(),
  total_downtime_seconds: z.int(),
});

const Outage = z.object({
  id: z.string(),
  monitor_id: z.string(),
  monitor_name: z.string(),
  status: z.enum(OUTAGE_STATUSES),
  cause: z.string(),
  started_at: Timestamp.meta({ description: "The first of the failed checks" }),
  resolved_at: Timestamp.nullable(),
  duration_seconds: z.int(),
});

const OutageQuery = z.object({
  monitor_id: z.string().min(1).max(255).optional(),
  status: z.enum(OUTAGE_STATUSES).optional(),
  ...pagingQuery(50),
});

const UNKNOWN = { 404: "There is no such monitor" };

/** Under the edition's prefix. */
export const uptimeEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/uptime/monitors",
    summary: "List monitors",
    description: "By name.",
    role: "viewer",
    permission: "uptime:read",
    returns: z.object({ monitors: z.array(Monitor) }),
  }, () => ({ monitors: listMonitors(deps).map(shownMonitor) })),

  endpoint({
    method: "post",
    path: "/uptime/monitors",
    summary: "Create a monitor",
    description: "It is checked at once, then at a place of its own within each interval. An " +
      "http monitor follows up to 5 redirects, and the last answer counts; a dns monitor asks " +
      "the system's resolver. After `retries` + 1 failures in a row an outage begins and " +
      "`monitor.down` goes out; the next good check ends it, with `monitor.up`.",
    role: "admin",
    permission: "uptime:write",
    body: NewMonitor,
    returns: Monitor,
    status: 201,
    failures: { 402: "The edition allows no more monitors" },
  }, async ({ body }) => {
    const { name, type, url } = body;
    return shownMonitor(await createMonitor(deps, { ...changeOf(body), name, type, url }));
  }),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id",
    summary: "Show a monitor",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => shownMonitor(getMonitor(deps, params.id))),

  endpoint(
    {
      method: "put",
      path: "/uptime/monitors/:id",
      summary: "Change a monitor",
      description:
        "What is left out stays as it is, null takes it away. Headers are replaced as a " +
        "whole. It is checked at once.",
      role: "admin",
      permission: "uptime:write",
      params: IdParams,
      body: MonitorChange,
      returns: Monitor,
      failures: { 409: "Its stored secrets cannot be decrypted", ...UNKNOWN },
    },
    async ({ params, body }) => shownMonitor(await changeMonitor(deps, params.id, changeOf(body))),
  ),

  endpoint({
    method: "delete",
    path: "/uptime/monitors/:id",
    summary: "Delete a monitor",
    description: "With its checks. Its outages are kept, and count for agreements as before; an " +
      "open one ends.",
    role: "admin",
    permission: "uptime:write",
    params: IdParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => {
    removeMonitor(deps, params.id);
    return done;
  }),

  endpoint({
    method: "post",
    path: "/uptime/monitors/:id/pause",
    summary: "Pause a monitor",
    description: "Until it is resumed it is not checked, and the time counts neither as up nor " +
      "as down. An open outage stays open.",
    role: "admin",
    permission: "uptime:write",
    params: IdParams,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => shownMonitor(pauseMonitor(deps, params.id))),

  endpoint({
    method: "post",
    path: "/uptime/monitors/:id/resume",
    summary: "Resume a monitor",
    description: "It is checked at once.",
    role: "admin",
    permission: "uptime:write",
    params: IdParams,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => shownMonitor(resumeMonitor(deps, params.id))),

  endpoint({
    method: "post",
    path: "/uptime/monitors/:id/check",
    summary: "Check a monitor now",
    description: "The check is recorded and counts like any other; one that is under way is " +
      "joined. That of a paused monitor is recorded and changes nothing else.",
    role: "operator",
    permission: "uptime:write",
    params: IdParams,
    returns: Check,
    failures: { 409: "The monitor changed meanwhile, or its secrets are unreadable", ...UNKNOWN },
  }, async ({ params }) => shownCheck(await checkMonitor(deps, params.id))),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id/checks",
    summary: "List the checks of a monitor",
    description: "Newest first; kept for 7 days, at most the last 10 000.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    query: z.object(pagingQuery(50)),
    returns: paged({ checks: z.array(Check) }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { checks, ...page } = listChecks(deps, params.id, query);
    return { checks: checks.map(shownCheck), ...page };
  }),

  endpoint({
    method: "get",
    path: "/uptime/monitors/:id/stats",
    summary: "Show how a monitor did",
    description: "Over the last 24 hours, 7 days and 30 days. Checks are counted by whole " +
      "quarters of an hour, or whole hours; uptime and downtime are exact.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    returns: z.object({ stats: z.object({ "24h": Stats, "7d": Stats, "30d": Stats }) }),
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
    summary: "List the outages of a monitor",
    description: "Newest first; kept for 400 days.",
    role: "viewer",
    permission: "uptime:read",
    params: IdParams,
    query: z.object(pagingQuery(50)),
    returns: paged({ incidents: z.array(Outage) }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { outages, ...page } = listOutagesOf(deps, params.id, query);
    return { incidents: outages.map(shownOutage), ...page };
  }),

  endpoint({
    method: "get",
    path: "/uptime/incidents",
    summary: "List outages",
    description: "Newest first, also of monitors that were deleted; kept for 400 days.",
    role: "viewer",
    permission: "uptime:read",
    query: OutageQuery,
    returns: paged({ incidents: z.array(Outage) }),
  }, ({ query: { monitor_id, ...query } }) => {
    const { outages, ...page } = listOutages(deps, { ...query, monitorId: monitor_id });
    return { incidents: outages.map(shownOutage), ...page };
  }),
];

function changeOf(body: z.output<typeof MonitorChange>): MonitorChange {
  const { expected_status } = body;
  return {
    name: body.name,
    type: body.type,
    url: body.url,
    method: body.method,
    expectedStatus: typeof expected_status === "number" ? `${expected_status}` : expected_status,
    keyword: body.keyword,
    recordType: body.record_type,
    expected: body.expected,
    timeoutMs: body.timeout_ms,
    intervalSeconds: body.interval_seconds,
    retries: body.retries,
    headers: body.headers,
    body: body.body,
    autoIncident: body.auto_incident,
  };
}

function shownMonitor(monitor: Monitor): z.input<typeof Monitor> {
  const { expectedStatus } = monitor;
  return {
    id: monitor.id,
    name: monitor.name,
    type: monitor.type,
    url: monitor.url,
    method: monitor.method as z.input<typeof Monitor>["method"],
    // One status is a number, as it mostly was when it was told.
    expected_status: /^\d+$/.test(expectedStatus ?? "") ? Number(expectedStatus) : expectedStatus,
    keyword: monitor.keyword,
    record_type: monitor.recordType as z.input<typeof Monitor>["record_type"],
    expected: monitor.expected,
    timeout_ms: monitor.timeoutMs,
    interval_seconds: monitor.intervalSeconds,
    retries: monitor.retries,
    headers: monitor.headers,
    body: monitor.body,
    auto_incident: monitor.autoIncident,
    status: monitor.status,
    last_checked_at: monitor.lastCheckedAt,
    last_response_time_ms: monitor.lastResponseTimeMs,
    uptime_24h: monitor.uptime24h,
    created_at: monitor.createdAt,
    updated_at: monitor.updatedAt,
  };
}

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
