/**
 * Texts of events for people, in notifications and chat messages. Names are on one line and
 * isolated from the surrounding text direction, so that they cannot imitate other parts.
 *
 * @module
 */

import type { EventEnvelope, EventKind } from "./events.ts";

/** An event of this service, or a custom event with any fields. */
export interface DescribedEvent extends EventEnvelope {
  event: string;
  data: object;
}

/** For colors and icons: a problem, a lesser one, a recovery, or news. */
export type Tone = "problem" | "warning" | "good" | "news";

/** Plain text without control characters. */
export interface EventDescription {
  tone: Tone;
  /** One line, e.g. `Container down: web`. */
  headline: string;
  /** Facts such as `Exit code: 1`, and texts of several lines. */
  lines: string[];
}

/** Limits of a name and of a multi-line text, in UTF-16 code units. */
const NAME_MAX = 300;
const MESSAGE_MAX = 3_000;

/** A value is truncated to this length before it is processed. */
const RAW_MAX = 20_000;

/** Fields listed of an event of an unknown kind. */
const FIELDS_MAX = 20;

/** Returns a field of the event; an empty string if it is missing. */
type Field = (name: string) => string;

const LOOP_OUTCOMES: Readonly<Record<string, string>> = {
  running: "The container has been running for 10 minutes",
  exited: "The container did not start again",
  stopped: "The container was stopped, or finished its task",
  removed: "The container was removed",
};

/** The content for each kind; `undefined` if a custom event lacks the field for the headline. */
const KINDS: Record<EventKind, (field: Field, message: Field) => EventDescription | undefined> = {
  "account.new_sign_in": (field, message) =>
    about(
      "warning",
      "New sign-in",
      field("account"),
      joined("Address: ", field("address")),
      joined("Browser: ", message("userAgent")),
    ),
  "alert.fired": (field, message) =>
    about(
      field("severity") === "info" ? "news" : "problem",
      "Alert",
      withContainer(field),
      message("message"),
    ),
  "alert.resolved": (field, message) =>
    about("good", "Alert resolved", withContainer(field), message("message")),
  "alert.no_data": (field, message) =>
    about("warning", "Alert without data", withContainer(field), message("message")),
  "container.down": (field) =>
    about(
      "problem",
      "Container down",
      field("container"),
      endOf(field),
    ),
  "container.up": (field) => about("good", "Container up", field("container")),
  "container.unhealthy": (field, message) =>
    about("warning", "Container unhealthy", field("container"), message("healthOutput")),
  "container.healthy": (field) => about("good", "Container healthy", field("container")),
  "container.removed": (field) => about("good", "Container removed", field("container")),
  "container.oom": (field) => about("problem", "Container out of memory", field("container")),
  "container.crash_looping": (field) =>
    about(
      "problem",
      "Crash loop",
      field("container"),
      endOf(field),
    ),
  "container.stable": (field) =>
    about(
      field("outcome") === "exited" ? "problem" : "good",
      "Crash loop ended",
      field("container"),
      LOOP_OUTCOMES[field("outcome")] ?? "",
      joined("Exits: ", field("exits")),
      joined("Lasted ", duration(field("durationSeconds"))),
    ),
  "engine.down": (field, message) => ({
    tone: "problem",
    headline: "Container engine down",
    lines: [joined("Containers: ", field("containers")), message("error")],
  }),
  "engine.up": (field) => ({
    tone: field("stopped") === "" ? "good" : "warning",
    headline: "Container engine up",
    lines: [
      joined("Was down for ", duration(field("downtimeSeconds"))),
      joined("Running containers: ", field("containers")),
      joined("Not running any more: ", field("stopped")),
    ],
  }),
  "host.disk_full_soon": (field) =>
    about(
      "warning",
      "Disk full soon",
      field("path"),
      joined("Used: ", field("percent"), " %"),
      joined("Full at: ", moment(field("fullAt"))),
    ),
  "incident.created": (field) =>
    about(
      "problem",
      "Incident",
      field("title"),
      joined("Severity: ", field("severity")),
      joined("Status: ", field("status")),
    ),
  "incident.updated": (field, message) =>
    about(
      "warning",
      "Incident updated",
      field("title"),
      change(field("previousStatus"), field("status")),
      message("message"),
    ),
  "incident.resolved": (field) => about("good", "Incident resolved", field("title")),
  "monitor.down": (field, message) =>
    about("problem", "Monitor down", field("monitor"), message("cause")),
  "monitor.up": (field) =>
    about(
      "good",
      "Monitor up",
      field("monitor"),
      joined("Was down for ", duration(field("downtimeSeconds"))),
    ),
  "sla.breached": (field) =>
    about(
      "problem",
      "SLA breached",
      field("sla"),
      joined("Uptime: ", field("actualUptime"), " %"),
      joined("Target: ", field("targetUptime"), " %"),
      joined("Downtime: ", duration(field("downtimeSeconds"))),
    ),
  "remediation.executed": (field, message) =>
    about(
      field("status") === "success" ? "good" : "warning",
      "Remediation",
      field("rule"),
      [field("action"), joined("of ", field("target"))].join(" ").trim(),
      joined("Result: ", field("status")),
      message("error"),
    ),
  "remediation.disabled": (field, message) =>
    about("warning", "Remediation rule disabled", field("rule"), message("reason")),
  "schedule.failed": (field, message) =>
    about(
      "warning",
      "Schedule failed",
      field("schedule"),
      [field("action"), joined("of ", field("container"))].join(" ").trim(),
      message("error"),
    ),
  "deploy.succeeded": (field, message) => aboutDeploy("good", "Stack deployed", field, message),
  "deploy.rolled_back": (field, message) =>
    aboutDeploy("warning", "Deploy rolled back", field, message),
  "deploy.failed": (field, message) => aboutDeploy("warning", "Deploy failed", field, message),
  "deploy.needs_attention": (field, message) =>
    aboutDeploy("problem", "Deploy needs attention", field, message),
  "stack.down_failed": (field, message) =>
    about("warning", "Stack not removed", field("stack"), message("reason")),
  "status_page.updated": (field, message) =>
    about(
      ["operational", "resolved", "completed"].includes(field("newStatus")) ? "good" : "news",
      "Status page",
      [field("page"), field("component") || field("incident") || field("maintenance")]
        .filter(Boolean).join(", "),
      change(field("oldStatus"), field("newStatus")),
      joined("Starts: ", moment(field("startsAt"))),
      joined("Ends: ", moment(field("endsAt"))),
      message("message"),
    ),
  "certificate.expiring": (field) =>
    about(
      "warning",
      "Certificate expires soon",
      field("domain") && field("domain") + joined(":", field("port")),
      joined("Days left: ", field("daysRemaining")),
      joined("Ends: ", moment(field("expiresAt"))),
    ),
  "image.update_available": (field) =>
    about("news", "Update available", field("image"), joined("Containers: ", field("containers"))),
  "update.started": (field) => aboutUpdate("news", "Update started", field),
  "update.succeeded": (field, message) => aboutUpdate("good", "Updated", field, message("reason")),
  "update.rolled_back": (field, message) =>
    aboutUpdate("warning", "Update rolled back", field, message("reason")),
  "update.failed": (field, message) =>
    aboutUpdate("warning", "Update failed", field, message("reason")),
  "update.needs_attention": (field, message) =>
    aboutUpdate("problem", "Update needs attention", field, message("reason")),
  "test": (_, message) => about("news", "Test", "messages arrive", message("message")),
};

/** Describes an event. An unknown kind is described by its fields. */
export function describeEvent(
  { event, data }: Pick<DescribedEvent, "event" | "data">,
): EventDescription {
  const values = data as Record<string, unknown>;
  const valueOf = (name: string) => Object.hasOwn(values, name) ? plain(values[name]) : "";
  const field: Field = (name) => inline(valueOf(name));
  const message: Field = (name) => paragraphs(valueOf(name));

  const describe = Object.hasOwn(KINDS, event) ? KINDS[event as EventKind] : undefined;
  const { tone, headline, lines } = describe?.(field, message) ?? listFields(event, values, field);
  return { tone, headline, lines: lines.filter(Boolean) };
}

/** Truncates without splitting a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, max - 3).replace(/[\uD800-\uDBFF]$/, "").trimEnd() + "...";
}

function about(
  tone: Tone,
  what: string,
  name: string,
  ...lines: string[]
): EventDescription | undefined {
  return name === "" ? undefined : { tone, headline: `${what}: ${name}`, lines };
}

/** The rule of an alert, with the container that it is about. */
const withContainer = (field: Field) =>
  field("rule") && field("rule") + joined(" (", field("container"), ")");

const REASONS: Readonly<Record<string, string>> = {
  exited: "Exited",
  killed: "Killed",
  oom: "Out of memory",
  stopped: "Stopped",
};

/** E.g. `Exited (exit code 1)`. */
const endOf = (field: Field): string =>
  (REASONS[field("reason")] ?? field("reason")) + joined(" (exit code ", field("exitCode"), ")");

const aboutUpdate = (tone: Tone, what: string, field: Field, ...lines: string[]) =>
  about(tone, what, field("container"), joined("Image: ", field("image")), ...lines);

const aboutDeploy = (tone: Tone, what: string, field: Field, message: Field) =>
  about(tone, what, field("stack"), joined("Version: ", field("version")), message("reason"));

/** The content of an event of an unknown kind. */
function listFields(
  event: string,
  values: Record<string, unknown>,
  field: Field,
): EventDescription {
  const names = Object.keys(values);
  const title = ["title", "name"].find((name) => names.includes(name) && field(name) !== "");
  const others = names.filter((name) => name !== title);
  return {
    tone: "news",
    headline: inline(event) + (title === undefined ? "" : `: ${field(title)}`),
    lines: [
      ...others.slice(0, FIELDS_MAX).map((name) => joined(`${inline(name)}: `, field(name))),
      others.length > FIELDS_MAX ? `and ${others.length - FIELDS_MAX} more fields` : "",
    ],
  };
}

/** Joins the parts; an empty string if `text` is empty. */
function joined(before: string, text: string, after = ""): string {
  return text === "" ? "" : before + text + after;
}

function change(before: string, after: string): string {
  const readable = (status: string) => status.replaceAll("_", " ");
  return before === "" || after === ""
    ? joined("Status: ", readable(after))
    : `Status: ${readable(before)} -> ${readable(after)}`;
}

/** The two largest units, e.g. `2 h 5 min` for `"7512"`. */
export function duration(seconds: string): string {
  const total = Math.round(Number(seconds));
  if (seconds === "" || !Number.isFinite(total)) return seconds;
  const parts = [
    [Math.floor(total / 86_400), "d"],
    [Math.floor(total / 3_600) % 24, "h"],
    [Math.floor(total / 60) % 60, "min"],
    [total % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** E.g. `2026-01-31 12:00:00 UTC`. */
export function moment(time: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time)
    ? `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`
    : time;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  const text = isList
    ? value.join(", ")
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);
  return text.slice(0, RAW_MAX);
}

/** Bidirectional control characters. */
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

const RIGHT_TO_LEFT =
  /[\p{Script=Adlam}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Puts text on one line and isolates right-to-left text. */
export function inline(text: string): string {
  const line = truncate(
    text.toWellFormed().replace(BIDI_CONTROLS, "").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim(),
    NAME_MAX,
  );
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** Removes control characters; keeps line breaks, but at most one empty line in a row. */
export function paragraphs(text: string): string {
  const lines = text.toWellFormed().replace(BIDI_CONTROLS, "").split(/\r\n?|[\n\p{Zl}\p{Zp}]/u)
    .map((line) => line.replace(/\p{Cc}+/gu, " ").trimEnd());
  return truncate(
    lines.filter((line, i) => line !== "" || lines[i - 1] !== "").join("\n").trim(),
    MESSAGE_MAX,
  );
}
