/** Content of a notification, in a form that every kind of channel renders. @module */

import { SEVERITIES, type Severity } from "../../db/notification_channels.ts";
import type { Config } from "../config/config.ts";
import { describeEvent, inline, moment, type Tone, truncate } from "./description.ts";
import type { AppEvent, DeployData, EventKind, NewEvent } from "./events.ts";
import type { Phase } from "./decisions.ts";
import { plainData } from "./plain_data.ts";

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
  /** One line, e.g. `host-1: Container down: web`. Receivers get it with the severity. */
  title: string;
  lines: string[];
  /** The messages about one problem have the same thread. */
  thread: string;
  /** Whether it begins or ends a problem, or reports something else about it. */
  phase: Phase;
  /** The page about it in the dashboard; `null` without `SERVICE_BASE_URL`. */
  link: string | null;
  /** The data of the event, for templates. */
  data: object;
  /** Of a mail that the channel's other receivers already have. */
  receivers?: readonly string[];
}

/** Limit of the name of a container or stack in ids and links, in UTF-16 code units. */
const NAME_MAX = 255;

/** Kinds that are not `info`. */
const SEVERITY_OF: { [Kind in EventKind]?: Severity } = {
  "account.new_sign_in": "warning",
  "alert.fired": "warning",
  "alert.no_data": "warning",
  "certificate.expiring": "warning",
  "container.crash_looping": "critical",
  "container.down": "warning",
  "container.oom": "critical",
  "container.unhealthy": "warning",
  "deploy.failed": "warning",
  "deploy.needs_attention": "critical",
  "deploy.rolled_back": "warning",
  "engine.down": "critical",
  "host.disk_full_soon": "warning",
  "monitor.down": "warning",
  "remediation.disabled": "warning",
  "schedule.failed": "warning",
  "sla.breached": "warning",
  "stack.down_failed": "warning",
  "update.failed": "warning",
  "update.needs_attention": "critical",
  "update.rolled_back": "warning",
};

/** The severity of a message about an incident by that of the incident. */
const SEVERITY_OF_INCIDENT: Readonly<Record<string, Severity>> = {
  critical: "critical",
  major: "warning",
  minor: "warning",
  info: "info",
};

/** Kinds that begin or end a problem. */
const PHASE_OF: { [Kind in EventKind]?: "begin" | "end" } = {
  "alert.fired": "begin",
  "alert.resolved": "end",
  "container.crash_looping": "begin",
  "container.down": "begin",
  "container.healthy": "end",
  "container.removed": "end",
  "container.oom": "begin",
  "container.stable": "end",
  "container.unhealthy": "begin",
  "container.up": "end",
  "deploy.failed": "begin",
  "deploy.needs_attention": "begin",
  "deploy.rolled_back": "begin",
  "deploy.succeeded": "end",
  "engine.down": "begin",
  "engine.up": "end",
  "incident.created": "begin",
  "incident.resolved": "end",
  "monitor.down": "begin",
  "monitor.up": "end",
};

type LinkConfig = Pick<Config, "serviceBaseUrl">;

/** The address of a page of the dashboard; `null` without `SERVICE_BASE_URL`. */
export const linkTo = ({ serviceBaseUrl }: LinkConfig, path: string): string | null =>
  serviceBaseUrl && serviceBaseUrl + path;

/** Whether an event begins or ends a problem. */
export const phaseOf = ({ event }: Pick<AppEvent, "event">): Phase => PHASE_OF[event] ?? "report";

/**
 * Returns the notification about an event.
 *
 * @param also Lines about other events.
 */
export function messageOf(
  event: AppEvent,
  config: LinkConfig,
  also: readonly string[] = [],
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
    lines: [...withImage(event, lines), ...also],
    thread: threadOf(event),
    phase: phaseOf(event),
    link: linkTo(config, pathOf(event)),
    data: plainData(data),
  };
}

/** The lines of an event and, if it is about a container, its image. */
function withImage({ data }: AppEvent, lines: readonly string[]): readonly string[] {
  const { container, image } = data as { container?: string; image?: string };
  if (container === undefined || image === undefined) return lines;
  const line = `Image: ${inline(image)}`;
  return lines.includes(line) ? lines : [...lines, line];
}

/**
 * A notification that stands for several that were held back.
 *
 * @param titles Of the first ones; of all of them unless `count` is larger.
 */
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

const SEVERITY_NAMES: Record<Severity, string> = {
  info: "Info",
  warning: "Warning",
  critical: "Critical",
};

/** The title with the severity, e.g. `[Warning] host-1: Container down: web`. */
export const fullTitle = ({ severity, title }: Pick<NotificationMessage, "severity" | "title">) =>
  `[${SEVERITY_NAMES[severity]}] ${title}`;

/** Whether a severity is at least another one. */
export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);

/** Names of the containers that an event is about. */
export function containersOf({ data }: Pick<AppEvent, "data">): readonly string[] {
  const { container, containers } = data as { container?: string; containers?: unknown };
  if (Array.isArray(containers)) return containers;
  return container === undefined ? [] : [container];
}

/** The stack that an event is about, unless it is about containers. */
export const stackNameOf = ({ event, data }: NewEvent): string | undefined =>
  /^(deploy|stack)\./.test(event) ? (data as DeployData).stack : undefined;

/**
 * The text below the title: lines, time and link.
 *
 * @param max Limit in UTF-16 code units, before anything is escaped.
 * @param escape Of the lines. The link is not text of others, and escapes would break it.
 */
export function bodyOf(
  { lines, timestamp, link }: NotificationMessage,
  max: number,
  escape = (text: string): string => text,
): string {
  const end = [moment(timestamp), ...(link === null ? [] : [link])].join("\n");
  const text = lines.join("\n");
  return text === "" ? end : `${escape(truncate(text, max - end.length - 1))}\n${end}`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The name of a problem at an on-call service: the id of its alert, outage or incident, or else the
 * container or stack with the server, because another server can have one of the same name.
 */
export const problemKey = ({ server, thread }: NotificationMessage, max: number): string =>
  (UUID.test(thread) ? thread : `${server} ${thread}`).slice(0, max);

/** Severity of an event. */
export function severityOf({ event, data }: NewEvent): Severity {
  if (event === "container.stable" && data.outcome === "exited") return "warning";
  if (event === "container.down" && data.reason === "oom") return SEVERITY_OF["container.oom"]!;
  if (event === "alert.fired" || event === "alert.no_data") {
    return data.severity ?? SEVERITY_OF[event]!;
  }
  if (event === "incident.created" || event === "incident.updated") {
    return SEVERITY_OF_INCIDENT[data.severity] ?? "warning";
  }
  if (event === "remediation.executed" && data.status !== "success") return "warning";
  return SEVERITY_OF[event] ?? "info";
}

/** The thread of the messages about a problem. */
export function threadOf(about: AppEvent): string {
  const { event, eventId, data } = about;
  const [area] = event.split(".");
  if (area === "engine") return "engine";
  if (area === "container" || area === "deploy") return `${area} ${nameOf(about)}`;
  const { alertId, outageId, jobId, id } = data as Record<string, string | undefined>;
  return alertId ?? outageId ?? jobId ?? (area === "incident" ? id : undefined) ?? eventId;
}

/** The stack or container of the event, as a part of ids and links. */
const nameOf = (event: NewEvent): string =>
  (stackNameOf(event) ?? containersOf(event)[0] ?? "").slice(0, NAME_MAX).toWellFormed();

/** Pages of the dashboard by the first part of the kind. */
const PAGES: Readonly<Record<string, string>> = {
  account: "/sessions",
  alert: "/alerts",
  certificate: "/probes",
  container: "/containers",
  deploy: "/stacks",
  host: "/host",
  image: "/updates",
  incident: "/incidents",
  monitor: "/uptime",
  remediation: "/remediation",
  schedule: "/schedules",
  sla: "/sla",
  stack: "/stacks",
  status_page: "/status-pages",
  update: "/updates",
};

function pathOf(event: AppEvent): string {
  const page = PAGES[event.event.split(".")[0]!] ?? "/";
  const hasOwnPage = (page === "/containers" || page === "/stacks") && !isRemoved(event);
  return hasOwnPage ? `${page}/${encodeURIComponent(nameOf(event))}` : page;
}

/** Whether it reports that its container no longer exists. */
const isRemoved = ({ event, data }: AppEvent): boolean =>
  event === "container.removed" || event === "container.stable" && data.outcome === "removed";
