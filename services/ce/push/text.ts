/**
 * The text of a push.
 *
 * @module
 */

import type { AppEvent, DownReason, EventMap } from "../../events/events.ts";

/** A message as it is shown on a device, and what the app gets with it. */
export interface PushText {
  title: string;
  body: string;
  data: Record<string, string>;
}

/** Longer texts are cut; the gateway takes at most 4096 bytes for everything. */
const TITLE_MAX = 100;
const BODY_MAX = 300;

const REASONS: Record<DownReason, (exitCode: number | null) => string> = {
  exited: (exitCode) => exitCode === null ? "exited" : `exited with code ${exitCode}`,
  killed: () => "was killed",
  oom: () => "ran out of memory",
  stopped: () => "was stopped",
};

/** The text about an event, or `undefined` for a kind that is not pushed. */
export function pushText(event: AppEvent): PushText | undefined {
  const words = wordsOf(event);
  if (!words) return undefined;
  const { event: kind, timestamp, eventId, server, serverId } = event;
  return {
    title: cut(words.title, TITLE_MAX),
    body: cut(`${server}: ${words.body}`, BODY_MAX),
    data: { type: kind, event: kind, timestamp, eventId, server, serverId, ...words.ids },
  };
}

function wordsOf(
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
    case "incident.created": {
      const { id, title, severity } = data as { id: string; title: string; severity: string };
      return { title: `Incident: ${title}`, body: `severity ${severity}`, ids: { incidentId: id } };
    }
    default:
      return undefined;
  }
}

/** Cuts between characters, not through one. */
function cut(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 3).join("")}...`;
}
