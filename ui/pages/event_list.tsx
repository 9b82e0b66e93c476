/**
 * Events as sentences.
 *
 * @module
 */

import { Link } from "../components/button.tsx";
import { plain } from "../components/text.ts";
import { Time } from "../components/time.tsx";
import type { LiveEvent } from "../state/live.ts";

type Tone = "good" | "warn" | "bad" | "idle";

export function EventList({ name, events }: { name: string; events: readonly LiveEvent[] }) {
  return (
    <ul class="events" aria-label={name}>
      {events.map((event) => {
        const { tone, subject, text } = describe(event);
        const { id } = event.data;
        const shown = plain(subject);
        return (
          <li key={event.eventId}>
            <span class={`state ${tone}`} />
            <p>
              {event.event.startsWith("container.") && typeof id === "string"
                ? <Link to={`/containers/${id.slice(0, 12)}`}>{shown}</Link>
                : <strong>{shown}</strong>} {plain(text)}
            </p>
            <Time at={event.timestamp} />
          </li>
        );
      })}
    </ul>
  );
}

/** What happened to what. Other kinds are shown by their name. */
function describe({ event, data }: LiveEvent): { tone: Tone; subject: string; text: string } {
  const of = (key: string) => data[key] == null ? "" : String(data[key]);
  const exit = data.exitCode == null ? "" : ` with exit code ${data.exitCode}`;
  switch (event) {
    case "container.up":
      return { tone: "good", subject: of("container"), text: "started" };
    case "container.down":
      return {
        tone: data.reason === "stopped" ? "idle" : "bad",
        subject: of("container"),
        text: { stopped: "stopped", oom: "ran out of memory", killed: "was killed" }[
          of("reason")
        ] ?? `exited${exit}`,
      };
    case "container.unhealthy":
      return { tone: "bad", subject: of("container"), text: "became unhealthy" };
    case "container.healthy":
      return { tone: "good", subject: of("container"), text: "is healthy again" };
    case "container.removed":
      return { tone: "idle", subject: of("container"), text: "was removed" };
    case "container.oom":
      return { tone: "bad", subject: of("container"), text: "ran out of memory" };
    case "container.crash_looping":
      return { tone: "bad", subject: of("container"), text: `is in a crash loop${exit}` };
    case "container.stable":
      return {
        tone: data.outcome === "exited" ? "bad" : "good",
        subject: of("container"),
        text: `is not in a crash loop any more: ${of("outcome")}`,
      };
    case "engine.down":
      return { tone: "bad", subject: "Container engine", text: `is down: ${of("error")}` };
    case "engine.up":
      return { tone: "good", subject: "Container engine", text: "is up again" };
    case "alert.fired":
      return { tone: "bad", subject: of("rule"), text: `fired: ${of("message")}` };
    case "alert.resolved":
      return {
        tone: "good",
        subject: of("rule"),
        text: `resolved${data.container == null ? "" : ` for ${data.container}`}`,
      };
    case "alert.no_data":
      return { tone: "warn", subject: of("rule"), text: `has no data: ${of("message")}` };
    case "host.disk_full_soon":
      return { tone: "warn", subject: of("path"), text: "will be full within a day" };
    case "schedule.failed":
      return { tone: "bad", subject: of("schedule"), text: `failed: ${of("error")}` };
    case "account.new_sign_in":
      return {
        tone: "idle",
        subject: data.account === "key" ? "API key" : of("account"),
        text: `signed in from ${of("address")}, for the first time with this browser`,
      };
    case "incident.created":
      return { tone: "warn", subject: of("title"), text: "opened" };
    case "incident.updated":
      return { tone: "idle", subject: of("title"), text: `is now ${of("status")}` };
    case "incident.resolved":
      return { tone: "good", subject: of("title"), text: "resolved" };
    case "monitor.down":
      return { tone: "bad", subject: of("monitor"), text: `is down: ${of("cause")}` };
    case "monitor.up":
      return { tone: "good", subject: of("monitor"), text: "is up again" };
    case "sla.breached":
      return {
        tone: "bad",
        subject: of("sla"),
        text: `was breached: uptime below ${data.targetUptime} %`,
      };
    case "remediation.executed":
      return {
        tone: data.error == null ? "idle" : "bad",
        subject: of("rule"),
        text: `${of("action")} of ${of("target")}` +
          (data.error == null ? `: ${of("status")}` : ` failed: ${of("error")}`),
      };
    case "remediation.disabled":
      return { tone: "warn", subject: of("rule"), text: `was turned off: ${of("reason")}` };
    case "status_page.updated":
      return {
        tone: "idle",
        subject: of("page"),
        text: `${of("component") || of("incident") || of("maintenance")} is now ` +
          of("newStatus").replaceAll("_", " "),
      };
    case "certificate.expiring":
      return {
        tone: "warn",
        subject: of("domain"),
        text: `certificate expires in ${of("daysRemaining")} days`,
      };
    case "image.update_available":
      return { tone: "warn", subject: of("image"), text: "has an update" };
    case "deploy.succeeded":
      return { tone: "good", subject: of("stack"), text: "was deployed" };
    case "deploy.rolled_back":
      return {
        tone: "bad",
        subject: of("stack"),
        text: `is as before the deploy: ${of("reason")}`,
      };
    case "deploy.failed":
      return { tone: "bad", subject: of("stack"), text: `was not deployed: ${of("reason")}` };
    case "deploy.needs_attention":
      return { tone: "bad", subject: of("stack"), text: `needs attention: ${of("reason")}` };
    case "update.started":
      return { tone: "idle", subject: of("container"), text: `is being updated to ${of("image")}` };
    case "update.succeeded":
      return { tone: "good", subject: of("container"), text: `was updated to ${of("image")}` };
    case "update.rolled_back":
      return { tone: "bad", subject: of("container"), text: `was rolled back: ${of("reason")}` };
    case "update.failed":
      return { tone: "bad", subject: of("container"), text: `was not updated: ${of("reason")}` };
    case "update.needs_attention":
      return { tone: "bad", subject: of("container"), text: `needs attention: ${of("reason")}` };
    default:
      return { tone: "idle", subject: event, text: of("message") };
  }
}
