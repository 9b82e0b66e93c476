/** The texts of push notifications. @module */

import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import { inline } from "../../events/text.ts";

/** The text that a device displays, and data for the app. */
interface PushText {
  title: string;
  body: string;
  data: Record<string, string>;
}

/** Limits of characters; the gateway accepts at most 4096 bytes per message. */
const TITLE_MAX = 100;
const BODY_MAX = 300;

/** The text for an event, or `undefined` for a kind that is not pushed. */
export function pushText(event: AppEvent): PushText | undefined {
  const message = eventKind(event.event).push?.(event.data);
  if (!message) return undefined;
  const { event: kind, timestamp, eventId, server, serverId } = event;
  return {
    title: truncate(inline(message.title), TITLE_MAX),
    body: truncate(inline(`${server}: ${message.body}`), BODY_MAX),
    data: { type: kind, event: kind, timestamp, eventId, server, serverId, ...message.ids },
  };
}

/** Never splits a surrogate pair. */
function truncate(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 3).join("")}...`;
}
