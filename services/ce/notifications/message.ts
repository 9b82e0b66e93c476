/**
 * What a notification says, in a form that every kind of channel renders.
 *
 * @module
 */

import { SEVERITIES, type Severity } from "../../../db/ce/notification_channels.ts";
import type { Config } from "../../config/config.ts";
import { describeEvent, inline, moment, type Tone, truncate } from "../../events/description.ts";
import type { AppEvent, EventKind } from "../../events/events.ts";

export { SEVERITIES };
export type { Severity, Tone };

/** A notification as it waits in the outbox. All texts are plain and without control characters. */
export interface NotificationMessage {
  eventId: string;
  event: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** The server's name. */
  server: string;
  severity: Severity;
  tone: Tone;
  /** One line, e.g. `host-1: Container down: web`. */
  title: string;
  lines: string[];
  /** The messages about one problem have the same thread. */
  thread: string;
  /** Whether it begins or ends a problem, or reports something else about it. */
  phase: "begin" | "end" | "report";
  /** The page about it in the dashboard; `null` without `SERVICE_BASE_URL`. */
  link: string | null;
  /** The data of the event, for templates. */
  data: object;
}

/** Kinds that are not `info`. */
const SEVERITY_OF: { [Kind in EventKind]?: Severity } = {
  "account.new_sign_in": "warning",
  "alert.fired": "warning",
  "certificate.expiring": "warning",
  "container.down": "warning",
  "container.oom": "critical",
  "container.unhealthy": "warning",
  "incident.created": "warning",
  "incident.updated": "warning",
  "monitor.down": "warning",
  "remediation.disabled": "warning",
  "schedule.failed": "warning",
  "sla.breached": "warning",
  "update.failed": "warning",
  "update.needs_attention": "critical",
  "update.rolled_back": "warning",
};

/** Kinds that begin or end a problem. */
const PHASE_OF: { [Kind in EventKind]?: "begin" | "end" } = {
  "alert.fired": "begin",
  "alert.resolved": "end",
  "container.down": "begin",
  "container.oom": "begin",
  "container.unhealthy": "begin",
  "container.up": "end",
  "incident.created": "begin",
  "incident.resolved": "end",
  "monitor.down": "begin",
  "monitor.up": "end",
};

/** Returns the notification about an event. */
export function messageOf(
  event: AppEvent,
  { serviceBaseUrl }: Pick<Config, "serviceBaseUrl">,
): NotificationMessage {
  const { tone, headline, lines } = describeEvent(event);
  const { eventId, timestamp, server, event: kind, data } = event;
  return {
    eventId,
    event: kind,
    timestamp,
    server,
    severity: severityOf(event),
    tone,
    title: `${inline(server)}: ${headline}`,
    lines,
    thread: threadOf(event),
    phase: PHASE_OF[kind] ?? "report",
    link: serviceBaseUrl === null ? null : serviceBaseUrl.replace(/\/+$/, "") + pathOf(event),
    data,
  };
}

/** A notification that stands for several that were held back. */
export function summaryOf(
  titles: readonly string[],
  count: number,
  { server, now, link }: { server: string; now: Date; link: string | null },
): NotificationMessage {
  const eventId = crypto.randomUUID();
  return {
    eventId,
    event: "summary",
    timestamp: now.toISOString(),
    server,
    severity: "warning",
    tone: "warning",
    title: `${inline(server)}: ${count} more notifications`,
    lines: [...titles, ...(count > titles.length ? [`and ${count - titles.length} more`] : [])],
    thread: eventId,
    phase: "report",
    link,
    data: { count },
  };
}

/** Whether a severity is at least another one. */
export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);

/** Names of the containers that an event is about. */
export function containersOf({ data }: Pick<AppEvent, "data">): readonly string[] {
  const { container, containers } = data as { container?: string; containers?: string[] };
  return containers ?? (container === undefined ? [] : [container]);
}

/**
 * The text below the title: lines, time and link.
 *
 * @param max Limit in UTF-16 code units.
 */
export function bodyOf({ lines, timestamp, link }: NotificationMessage, max: number): string {
  const end = [moment(timestamp), ...(link === null ? [] : [link])].join("\n");
  const text = lines.join("\n");
  return text === "" ? end : `${truncate(text, max - end.length - 1)}\n${end}`;
}

function severityOf({ event, data }: AppEvent): Severity {
  if (event === "remediation.executed" && data.status !== "success") return "warning";
  return SEVERITY_OF[event] ?? "info";
}

function threadOf({ event, eventId, data }: AppEvent): string {
  if (event.startsWith("container.")) return `container ${containersOf({ data })[0]}`;
  const { alertId, outageId, jobId, id } = data as Record<string, string | undefined>;
  return alertId ?? outageId ?? jobId ?? (event.startsWith("incident.") ? id : undefined) ??
    eventId;
}

/** Pages of the dashboard by the first part of the kind. */
const PAGES: Readonly<Record<string, string>> = {
  account: "/sessions",
  alert: "/alerts",
  certificate: "/probes",
  container: "/containers",
  image: "/updates",
  incident: "/incidents",
  monitor: "/uptime",
  remediation: "/remediation",
  schedule: "/schedules",
  sla: "/sla",
  status_page: "/status-pages",
  update: "/updates",
};

function pathOf({ event, data }: AppEvent): string {
  const area = event.split(".")[0]!;
  const page = PAGES[area] ?? "/";
  return area === "container"
    ? `${page}/${encodeURIComponent(containersOf({ data })[0] ?? "")}`
    : page;
}
