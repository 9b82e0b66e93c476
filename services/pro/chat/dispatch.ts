/** Custom events of callers, sent to chat channels. @module */

import { selectEnabledNotificationChannels } from "../../../db/notification_channels.ts";
import type { Deps } from "../../deps.ts";
import { describeEvent } from "../../events/description.ts";
import { createEnvelope } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import { linkTo, type NotificationMessage } from "../../events/message.ts";
import { inline, truncate } from "../../events/text.ts";
import { isSubscribed } from "../../messages/filter.ts";
import { enqueueWithLimit } from "../../messages/queue.ts";
import { asChat } from "./platforms.ts";

/** Limit of the text of a message, in UTF-16 code units: platforms take no more. */
const TEXT_MAX = 4_096;

type DispatchDeps = Pick<Deps, "config" | "db" | "now" | "outbox" | "server">;

/**
 * Queues a custom event of a caller for each enabled channel subscribed to its type.
 *
 * @returns The ids of the messages, or of the summaries that they are in.
 */
export function dispatchToChats(
  deps: DispatchDeps,
  event: { eventType: string; payload: object },
): string[] {
  const message = messageOf(deps, event);
  return deps.db.transaction(() =>
    selectEnabledNotificationChannels(deps.db)
      .filter((channel) => asChat(channel) && isSubscribed(channel, event.eventType))
      .map((channel) => enqueueWithLimit(deps, channel, message))
  );
}

/** Unlike the service's own events, it has any data, and begins and ends no problem. */
function messageOf(
  { config, now, server }: DispatchDeps,
  { eventType, payload }: { eventType: string; payload: object },
): NotificationMessage {
  const envelope = createEnvelope({ now, server });
  const { tone, headline, lines } = describeEvent({ event: eventType, data: payload });
  return {
    eventId: envelope.eventId,
    event: eventType,
    timestamp: envelope.timestamp,
    server: envelope.server,
    severity: eventKind(eventType).severity,
    tone,
    title: `${inline(envelope.server)}: ${headline}`,
    lines: truncate(lines.join("\n"), TEXT_MAX).split("\n"),
    thread: envelope.eventId,
    phase: "report",
    link: linkTo(config, "/"),
    data: {},
  };
}
