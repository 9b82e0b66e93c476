/**
 * Messages that are not sent at once: during the quiet hours of a channel, or because it gets
 * digests.
 *
 * @module
 */

import { insertHeldNotification, isThreadHeld } from "../../db/held_notifications.ts";
import type { StoredNotificationChannel } from "../../db/notification_channels.ts";
import { selectThreadMessage } from "../../db/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import { isAtLeast, type NotificationMessage, type Severity } from "../events/message.ts";
import { channelKind } from "./channels/kinds/mod.ts";
import { isQuiet } from "./quiet_hours.ts";

/** Limit of messages that wait for a channel; the oldest is dropped for a new one. */
const HELD_MAX = 500;

/** Whether a channel must get each problem by itself. */
export const isOnCall = ({ kind }: Pick<StoredNotificationChannel, "kind">): boolean =>
  channelKind(kind).isOnCall === true;

type HoldingDeps = Pick<Deps, "db" | "now">;

/**
 * Holds a message back if it must not be sent now. Must be called in the transaction of its cause.
 *
 * @param outbox The name of the outbox channel.
 * @returns Whether it is held.
 */
export function holdNotification(
  deps: HoldingDeps,
  outbox: string,
  channel: StoredNotificationChannel,
  message: NotificationMessage,
): boolean {
  const { db, now } = deps;
  if (!isHeld(deps, outbox, channel, message)) return false;
  const { thread } = message;
  const heldAt = now().toISOString();
  insertHeldNotification(db, { channelId: channel.id, thread, message, heldAt }, HELD_MAX);
  return true;
}

function isHeld(
  { db, now }: HoldingDeps,
  outbox: string,
  { id, quietHours, digestMinutes }: StoredNotificationChannel,
  message: NotificationMessage,
): boolean {
  if (quietHours === null || !isQuiet(quietHours, now())) return digestMinutes > 0;
  const { exceptSeverity } = quietHours;
  if (exceptSeverity === null) return true;
  const { phase, severity, thread } = message;
  if (isAtLeast(severity, exceptSeverity)) return false;
  // A beginning that was sent during the quiet hours is followed by its end.
  return phase !== "end" || isThreadHeld(db, { channelId: id, thread }) ||
    !wasSent({ db }, { channel: outbox, targetId: id, thread }, exceptSeverity);
}

/** Whether the last message about a problem was at least that severe. */
function wasSent(
  { db }: Pick<Deps, "db">,
  thread: { channel: string; targetId: string; thread: string },
  severity: Severity,
): boolean {
  const last = selectThreadMessage(db, thread);
  return last !== undefined && last.status !== "failed" &&
    isAtLeast((JSON.parse(last.payload) as NotificationMessage).severity, severity);
}
