/** The texts of push notifications. @module */

import { inline } from "../../events/description.ts";
import type { AppEvent, DownReason, EventMap } from "../../events/events.ts";

/** The text that a device displays, and data for the app. */
interface PushText {
  title: string;
  body: string;
  data: Record<string, string>;
}

/** Limits of characters; the gateway accepts at most 4096 bytes per message. */
const TITLE_MAX = 100;
const BODY_MAX = 300;

const REASONS: Record<DownReason, (exitCode: number | null) => string> = {
  exited: (exitCode) => exitCode === null ? "exited" : `exited with code ${exitCode}`,
  killed: () => "was killed",
  oom: () => "ran out of memory",
  stopped: () => "was stopped",
};

/** The text for an event, or `undefined` for a kind that is not pushed. */
export function pushText(event: AppEvent): PushText | undefined {
  const message = messageOf(event);
  if (!message) return undefined;
  const { event: kind, timestamp, eventId, server, serverId } = event;
  return {
    title: truncate(inline(message.title), TITLE_MAX),
    body: truncate(inline(`${server}: ${message.body}`), BODY_MAX),
    data: { type: kind, event: kind, timestamp, eventId, server, serverId, ...message.ids },
  };
}

function messageOf(
  { event, data }: { event: string; data: unknown },
): { title: string; body: string; ids: Record<string, string> } | undefined {
  switch (event) {
    case "alert.fired": {
      const { rule, ruleId, alertId, message } = data as EventMap["alert.fired"];
      return { title: `Alert: ${rule}`, body: message, ids: { ruleId, alertId } };
    }
    case "container.down": {
      const { container, id, reason, exitCode } = data as EventMap["container.down"];
      const body = `the container ${REASONS[reason](exitCode)}`;
      return { title: `${container} is down`, body, ids: { containerId: id } };
    }
    case "container.crash_looping": {
      const { container, id } = data as EventMap["container.crash_looping"];
      const body = "the container keeps exiting shortly after its start";
      return { title: `${container} is in a crash loop`, body, ids: { containerId: id } };
    }
    case "engine.down": {
      const { containers } = data as EventMap["engine.down"];
      return { title: "Container engine down", body: `${containers} containers ran`, ids: {} };
    }
    case "incident.created": {
      const { id, title, severity } = data as { id: string; title: string; severity: string };
      return { title: `Incident: ${title}`, body: `severity ${severity}`, ids: { incidentId: id } };
    }
    case "update.rolled_back":
    case "update.needs_attention": {
      const { container, id, reason } = data as EventMap["update.rolled_back"];
      const title = event === "update.rolled_back"
        ? `Update of ${container} was rolled back`
        : `Update of ${container} needs attention`;
      return { title, body: reason ?? "", ids: { containerId: id } };
    }
    case "deploy.rolled_back":
    case "deploy.needs_attention": {
      const { stack, reason } = data as EventMap["deploy.rolled_back"];
      const title = event === "deploy.rolled_back"
        ? `Deploy of ${stack} was rolled back`
        : `Deploy of ${stack} needs attention`;
      return { title, body: reason ?? "", ids: { stack } };
    }
    default:
      return undefined;
  }
}

/** Never splits a surrogate pair. */
function truncate(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 3).join("")}...`;
}
