/** Events as sentences. @module */

import { Link } from "../components/button.tsx";
import { plain } from "../base/text.ts";
import { Time } from "../components/time.tsx";
import type { LiveEvent } from "../state/live.ts";

type Tone = "good" | "warn" | "bad" | "idle";

export function EventList({ name, events }: { name: string; events: readonly LiveEvent[] }) {
  return (
    <ul class="events" aria-label={name}>
      {events.map((event) => {
        const [tone, subject, text] = describe(event);
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

/** Subject and verb of an event. Other kinds are shown by their name. */
export function describe({ event, data }: LiveEvent): [tone: Tone, subject: string, text: string] {
  const of = (key: string) => data[key] == null ? "" : String(data[key]);
  const exit = data.exitCode == null ? "" : ` with exit code ${data.exitCode}`;
  switch (event) {
    case "container.up":
      return ["good", of("container"), "started"];
    case "container.down":
      return [
        data.reason === "stopped" ? "idle" : "bad",
        of("container"),
        { stopped: "stopped", oom: "ran out of memory", killed: "was killed" }[
          of("reason")
        ] ?? `exited${exit}`,
      ];
    case "container.unhealthy":
      return ["bad", of("container"), "became unhealthy"];
    case "container.healthy":
      return ["good", of("container"), "is healthy again"];
    case "container.removed":
      return ["idle", of("container"), "was removed"];
    case "container.oom":
      return ["bad", of("container"), "ran out of memory"];
    case "container.crash_looping":
      return ["bad", of("container"), `is in a crash loop${exit}`];
    case "container.stable":
      return [
        data.outcome === "exited" ? "bad" : "good",
        of("container"),
        `is not in a crash loop any more: ${of("outcome")}`,
      ];
    case "engine.down":
      return ["bad", "Container engine", `is down: ${of("error")}`];
    case "engine.up":
      return ["good", "Container engine", "is up again"];
    case "alert.fired":
      return ["bad", of("rule"), `fired: ${of("message")}`];
    case "alert.resolved":
      return [
        "good",
        of("rule"),
        `resolved${data.container == null ? "" : ` for ${data.container}`}`,
      ];
    case "alert.no_data":
      return ["warn", of("rule"), `has no data: ${of("message")}`];
    case "host.disk_full_soon":
      return ["warn", of("path"), "will be full within a day"];
    case "schedule.failed":
      return ["bad", of("schedule"), `failed: ${of("error")}`];
    case "account.new_sign_in":
      return [
        "idle",
        data.account === "key" ? "API key" : of("account"),
        `signed in from ${of("address")}, for the first time with this browser`,
      ];
    case "incident.created":
      return ["warn", of("title"), "opened"];
    case "incident.updated":
      return ["idle", of("title"), `is now ${of("status")}`];
    case "incident.resolved":
      return ["good", of("title"), "resolved"];
    case "monitor.down":
      return ["bad", of("monitor"), `is down: ${of("cause")}`];
    case "monitor.up":
      return ["good", of("monitor"), "is up again"];
    case "sla.breached":
      return ["bad", of("sla"), `was breached: uptime below ${data.targetUptime} %`];
    case "remediation.executed":
      return [
        data.error == null ? "idle" : "bad",
        of("rule"),
        `${of("action")} of ${of("target")}` +
        (data.error == null ? `: ${of("status")}` : ` failed: ${of("error")}`),
      ];
    case "remediation.disabled":
      return ["warn", of("rule"), `was turned off: ${of("reason")}`];
    case "status_page.updated":
      return [
        "idle",
        of("page"),
        `${of("component") || of("incident") || of("maintenance")} is now ` +
        of("newStatus").replaceAll("_", " "),
      ];
    case "certificate.expiring":
      return ["warn", of("domain"), `certificate expires in ${of("daysRemaining")} days`];
    case "image.update_available":
      return ["warn", of("image"), "has an update"];
    case "deploy.succeeded":
      return ["good", of("stack"), "was deployed"];
    case "deploy.rolled_back":
      return ["bad", of("stack"), `is as before the deploy: ${of("reason")}`];
    case "deploy.failed":
      return ["bad", of("stack"), `was not deployed: ${of("reason")}`];
    case "deploy.needs_attention":
      return ["bad", of("stack"), `needs attention: ${of("reason")}`];
    case "stack.down_failed":
      return ["bad", of("stack"), `was not removed completely: ${of("reason")}`];
    case "update.started":
      return ["idle", of("container"), `is being updated to ${of("image")}`];
    case "update.succeeded":
      return ["good", of("container"), `was updated to ${of("image")}`];
    case "update.rolled_back":
      return ["bad", of("container"), `was rolled back: ${of("reason")}`];
    case "update.failed":
      return ["bad", of("container"), `was not updated: ${of("reason")}`];
    case "update.needs_attention":
      return ["bad", of("container"), `needs attention: ${of("reason")}`];
    default:
      return ["idle", event, of("message")];
  }
}
