/** /uptime/monitors: monitors and their settings. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { limitedRecord } from "../../services/input/limited_record.ts";
import { OUTBOUND_URL_MAX } from "../../services/outbound/url.ts";
import { RECORD_TYPES } from "../../services/pro/uptime/dns_lookup.ts";
import { EXPECTED_STATUS_MAX } from "../../services/pro/uptime/expected_status.ts";
import {
  MONITOR_DEFAULTS,
  MONITOR_HEADERS_MAX,
  MONITOR_METHODS,
  type MonitorChange,
} from "../../services/pro/uptime/settings.ts";
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
} from "../../services/pro/uptime/monitors.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Name, Timestamp } from "../contract/shapes.ts";

const fields = {
  name: Name,
  type: z.enum(MONITOR_TYPES),
  url: z.string().min(1).max(OUTBOUND_URL_MAX).meta({
    description: "http: a URL; tcp: `host:port`; dns: the name to look up. Loopback, link-local " +
      "and other special addresses are refused unless `OUTBOUND_ALLOW` lists them. Query values " +
      "are stored encrypted and shown as `********`, like header values",
  }),
  method: z.enum(MONITOR_METHODS).nullable().meta({
    description: `http only; default \`${MONITOR_DEFAULTS.method}\``,
  }),
  expected_status: z.union([
    z.int().min(100).max(599),
    z.string().min(1).max(EXPECTED_STATUS_MAX),
  ], { error: "must be a status such as 200 or a range such as 200-299" }).nullable().meta({
    description: "http only: a status, or statuses and ranges as text, e.g. `200-299,301`; " +
      `default ${MONITOR_DEFAULTS.expectedStatus}`,
  }),
  keyword: z.string().min(1).max(1_000).nullable().meta({
    description:
      "http only: text that the first 1 MiB of the response must contain; case-sensitive",
  }),
  record_type: z.enum(RECORD_TYPES).nullable().meta({
    description: `dns only; default \`${MONITOR_DEFAULTS.recordType}\``,
  }),
  expected: z.string().trim().min(1).max(1_000).nullable().meta({
    description: "dns only: a required record. Default: any record",
  }),
  timeout_ms: z.int().min(100).max(60_000).meta({
    description: `Timeout of the whole check; default ${MONITOR_DEFAULTS.timeoutMs}`,
  }),
  interval_seconds: z.int().min(5).max(86_400).meta({
    description: `Default ${MONITOR_DEFAULTS.intervalSeconds}`,
  }),
  retries: z.int().min(0).max(5).meta({
    description:
      "Number of consecutive failures that are retried, within 10 s, before the monitor " +
      `is down; default ${MONITOR_DEFAULTS.retries}`,
  }),
  headers: limitedRecord(z.string(), z.string(), MONITOR_HEADERS_MAX)
    .meta({
      description: "http only. Values are stored encrypted and shown as `********`; sent " +
        "unchanged in an update, they keep their values",
    }),
  body: z.string().max(65_536).nullable().meta({
    description: "http only. Stored encrypted and shown as `********`, like header values",
  }),
  auto_incident: z.boolean().meta({
    description: "Whether an incident is opened when the monitor goes down, and resolved when it " +
      "recovers; default false",
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
  .meta({ id: "NewMonitor", example: EXAMPLE });

const MonitorChange = z.object(fields).partial()
  .meta({ id: "MonitorChanges", example: { ...EXAMPLE, headers: { authorization: "********" } } });

const Monitor = z.object({
  ...fields,
  id: z.string(),
  name: z.string(),
  status: z.enum(["up", "down", "pending", "paused"]).meta({
    description: "`pending` until the first result",
  }),
  last_checked_at: Timestamp.nullable(),
  last_response_time_ms: z.int().nullable().meta({ description: "null without a response" }),
  uptime_24h: z.number().nullable().meta({
    description: "Percent of the known time of the last 24 hours; null without any",
    example: 99.9306,
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "Monitor" });

const UNKNOWN = { 404: "The monitor does not exist" };

const READ = { role: "viewer", permission: "uptime:read" } as const;
const WRITE = { role: "admin", permission: "uptime:write" } as const;

/** Under the edition's prefix. */
export const uptimeMonitorEndpoints = (deps: Deps) => [
  endpoint("GET /uptime/monitors", {
    operationId: "listMonitors",
    summary: "List monitors",
    description: "Sorted by name.",
    ...READ,
    returns: z.object({ monitors: z.array(Monitor) }).meta({ id: "MonitorList" }),
  }, () => ({ monitors: listMonitors(deps).map(monitorOf) })),

  endpoint("POST /uptime/monitors", {
    operationId: "createMonitor",
    summary: "Create a monitor",
    description:
      "The monitor is checked immediately, then at a fixed offset within each interval. " +
      "HTTP monitors follow up to 5 redirects and evaluate the last response; DNS monitors " +
      "use the system's resolver. After `retries` + 1 consecutive failures, an outage " +
      "begins and `monitor.down` is published; the next successful check ends it and " +
      "publishes `monitor.up`.",
    ...WRITE,
    body: NewMonitor,
    returns: Monitor,
    status: 201,
    failures: { 402: "The edition allows no more monitors" },
  }, async ({ body }) => {
    const { name, type, url } = body;
    return monitorOf(await createMonitor(deps, { ...changeOf(body), name, type, url }));
  }),

  endpoint("GET /uptime/monitors/:id", {
    operationId: "getMonitor",
    summary: "Get a monitor",
    ...READ,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => monitorOf(getMonitor(deps, params.id))),

  endpoint("PUT /uptime/monitors/:id", {
    operationId: "updateMonitor",
    summary: "Update a monitor",
    description:
      "Omitted fields keep their values; null removes a value. `headers` are replaced as a " +
      "whole. If the scheme, host or port of `url` changes, headers and body must be sent " +
      "again. The monitor is checked immediately.",
    ...WRITE,
    body: MonitorChange,
    returns: Monitor,
    failures: { 409: "Its stored secrets cannot be decrypted", ...UNKNOWN },
  }, async ({ params, body }) => monitorOf(await changeMonitor(deps, params.id, changeOf(body)))),

  endpoint("DELETE /uptime/monitors/:id", {
    operationId: "deleteMonitor",
    summary: "Delete a monitor",
    description:
      "Also deletes its checks. Its outages are kept and still count for SLAs; an open " +
      "outage ends.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeMonitor(deps, params.id)),

  endpoint("POST /uptime/monitors/:id/pause", {
    operationId: "pauseMonitor",
    summary: "Pause a monitor",
    description:
      "A paused monitor is not checked, and the time counts neither as up nor as down. An " +
      "open outage stays open.",
    ...WRITE,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => monitorOf(pauseMonitor(deps, params.id))),

  endpoint("POST /uptime/monitors/:id/resume", {
    operationId: "resumeMonitor",
    summary: "Resume a monitor",
    description: "The monitor is checked immediately.",
    ...WRITE,
    returns: Monitor,
    failures: UNKNOWN,
  }, ({ params }) => monitorOf(resumeMonitor(deps, params.id))),
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

function monitorOf(monitor: Monitor): z.input<typeof Monitor> {
  const { expectedStatus } = monitor;
  return {
    id: monitor.id,
    name: monitor.name,
    type: monitor.type,
    url: monitor.url,
    method: monitor.method as z.input<typeof Monitor>["method"],
    // A single status is shown as a number.
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
