/** Content of a notification, in a form that every kind of channel renders. @module */

import { SEVERITIES, type Severity } from "../../db/notification_channels.ts";
import type { Config } from "../config/config.ts";
import { describeEvent } from "./description.ts";
import { type AppEvent, containersOf, keyOf, type NewEvent } from "./events.ts";
import { OF_SWARM, ownPage, type Phase, type Tone } from "./kinds/kind.ts";
import type { ExitData } from "./kinds/containers.ts";
import { eventKind } from "./kinds/mod.ts";
import { plainData } from "./plain_data.ts";
import { inline, moment, truncate } from "./text.ts";

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

type LinkConfig = Pick<Config, "serviceBaseUrl">;

/** The address of a page of the dashboard; `null` without `SERVICE_BASE_URL`. */
export const linkTo = ({ serviceBaseUrl }: LinkConfig, path: string): string | null =>
  serviceBaseUrl && serviceBaseUrl + path;

/** An event about the last exit of a container. */
export type ExitEvent = AppEvent & { data: ExitData };

export const isExit = (event: AppEvent): event is ExitEvent =>
  eventKind(event.event).isExit === true;

/** Whether an event begins or ends a problem. */
export const phaseOf = ({ event }: Pick<AppEvent, "event">): Phase => eventKind(event).phase;

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

/** The stack that an event is about, unless it is about containers. */
export const stackNameOf = ({ event, data }: NewEvent): string | undefined =>
  eventKind(event).stack?.(data);

/**
 * The text below the title: lines, time and link.
 *
 * @param max Limit in UTF-16 code units, before anything is escaped.
 * @param escape Of the lines. The link is not text of others, and escapes would break it.
 */
export function bodyOf(
  { lines, timestamp, link }: Pick<NotificationMessage, "lines" | "link" | "timestamp">,
  max: number,
  escape = (text: string): string => text,
): string {
  const end = [moment(timestamp), ...(link === null ? [] : [link])].join("\n");
  const text = lines.join("\n");
  return text === "" ? end : `${escape(truncate(text, max - end.length - 1))}\n${end}`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The name of a problem at an on-call service: the id of its alert, outage, incident or object of a
 * swarm, or else the container or stack with the server, because another server can have one of the
 * same name.
 */
export const problemKey = ({ server, thread }: NotificationMessage, max: number): string =>
  (UUID.test(thread) || thread.startsWith(OF_SWARM) ? thread : `${server} ${thread}`).slice(0, max);

/** Severity of an event. */
export function severityOf({ event, data }: NewEvent): Severity {
  const { severity, severityOf } = eventKind(event);
  return severityOf?.(data) ?? severity;
}

/** The thread of the messages about a problem. */
export function threadOf(event: AppEvent): string {
  const { isShared, thread } = eventKind(event.event);
  const own = thread?.(event.data, nameOf(event));
  if (own === undefined) return event.eventId;
  return isShared ? own : keyOf(event, own);
}

/** The stack or container of the event, as a part of ids and links. */
const nameOf = (event: NewEvent): string =>
  (stackNameOf(event) ?? containersOf(event)[0] ?? "").slice(0, NAME_MAX).toWellFormed();

function pathOf(event: AppEvent): string {
  const { hasOwnPage, page = "/" } = eventKind(event.event);
  const path = hasOwnPage?.(event.data) ? ownPage(page, nameOf(event)) : page;
  return event.host === undefined ? path : `/hosts/${encodeURIComponent(event.host)}${path}`;
}
