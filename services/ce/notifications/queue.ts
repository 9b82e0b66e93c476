/**
 * Notifications about events, on their way into the outbox.
 *
 * @module
 */

import {
  countMessagesSince,
  type OutboxMessage,
  selectQueuedMessage,
  selectThreadMessage,
  updateMessagePayload,
  updateThreadSuperseded,
} from "../../../db/ce/outbox_messages.ts";
import {
  selectEnabledNotificationChannels,
  selectNotificationChannel,
} from "../../../db/ce/notification_channels.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type AppEvent, createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { CollectDeps } from "../../events/outbox_channel.ts";
import type { Recorder, RecorderDeps } from "../../events/recorder.ts";
import { isSubscribed, wantsEvent } from "./filter.ts";
import { type Bundle, flushGroups, groupEvent, type Receivers } from "./grouping.ts";
import { holdNotification, ON_CALL_KINDS } from "./holding.ts";
import { messageOf, type NotificationMessage, summaryOf } from "./message.ts";

/** The name of the outbox channel; its targets are notification channels. */
export const NOTIFICATION_CHANNEL = "notification";

/** Messages that a channel gets in a minute; the others become one summary. */
const PER_MINUTE_MAX = 20;
const MINUTE_MS = 60_000;

/** Titles that a summary shows. */
const TITLES_MAX = 20;

type QueueDeps = Pick<Deps, "config" | "db" | "now" | "outbox">;

/** Decides which channels get a message about an event, and when. */
export const notificationRecorder: Recorder = {
  edition: "ce",
  isForPeople: true,
  record(deps, event, root, pause) {
    groupEvent(deps, receiversOf(deps, event), { event, root, pause });
  },
};

const receiversOf = (deps: RecorderDeps, event: AppEvent): Receivers => ({
  channel: NOTIFICATION_CHANNEL,
  send: sender(deps),
  targets: selectEnabledNotificationChannels(deps.db).map((channel) => ({
    id: channel.id,
    subscribes: (kind) => isSubscribed(channel, kind),
    wants: () => wantsEvent(deps, channel, event),
  })),
});

/** Queues the messages that waited for others. */
export const collectNotifications = (deps: CollectDeps): number | undefined =>
  flushGroups(deps, NOTIFICATION_CHANNEL, sender(deps));

const sender =
  (deps: QueueDeps) => (channelId: string, { event, also, thread, phase }: Bundle): void =>
    enqueueNotification(deps, channelId, { ...messageOf(event, deps.config, also), thread, phase });

/**
 * Queues a test message, even if the channel is disabled or takes no events.
 *
 * @returns The id of the delivery.
 */
export function queueTest(
  deps: QueueDeps & Pick<Deps, "server">,
  { id, name }: { id: string; name: string },
): string {
  const message = messageOf({
    event: "test",
    ...createEnvelope(deps),
    data: { message: `Test of the channel ${name}` },
  }, deps.config);
  return insert(deps, id, message);
}

/**
 * Queues a sent or failed message again, with a new id.
 *
 * @returns The id of the new delivery.
 * @throws {AppError} `conflict` if it is still queued.
 */
export function replay(deps: QueueDeps, message: OutboxMessage): string {
  if (message.status === "queued") {
    throw new AppError("conflict", "The message is still queued");
  }
  return insert(deps, message.targetId, JSON.parse(message.payload));
}

/** Queues a message, or holds it back for the end of the quiet hours or a digest. */
export function enqueueNotification(
  deps: QueueDeps,
  channelId: string,
  message: NotificationMessage,
): void {
  const target = { channel: NOTIFICATION_CHANNEL, targetId: channelId };
  if (!holdNotification(deps, target, message)) enqueueNow(deps, channelId, message);
}

/** Queues a message also during the quiet hours. */
export function enqueueNow(
  deps: QueueDeps,
  channelId: string,
  message: NotificationMessage,
): void {
  const { db, now } = deps;
  const target = { channel: NOTIFICATION_CHANNEL, targetId: channelId };
  // What is over before it could be sent is not sent any more.
  if (message.phase === "end") {
    updateThreadSuperseded(db, { ...target, thread: message.thread }, "It ended before");
  }
  const since = new Date(now().getTime() - MINUTE_MS).toISOString();
  if (
    countMessagesSince(db, target, since) < PER_MINUTE_MAX || closesAlert(deps, target, message)
  ) {
    insert(deps, channelId, message);
    return;
  }
  const summary = selectQueuedMessage(db, target, "summary");
  const { titles = [], count = 0 } = summary ? heldBackOf(summary) : {};
  const next = summaryOf(
    [...titles, message.title].slice(0, TITLES_MAX),
    count + 1,
    { server: message.server, now: now(), link: message.link && new URL(message.link).origin },
  );
  if (summary) updateMessagePayload(db, summary.id, JSON.stringify(next));
  else insert(deps, channelId, next, MINUTE_MS);
}

/** An alert that was opened at an on-call service would stay open if its end were in a summary. */
function closesAlert(
  { db }: QueueDeps,
  target: { channel: string; targetId: string },
  { phase, thread }: NotificationMessage,
): boolean {
  return phase === "end" &&
    ON_CALL_KINDS.includes(selectNotificationChannel(db, target.targetId)?.kind ?? "") &&
    selectThreadMessage(db, { ...target, thread })?.status === "sent";
}

function heldBackOf({ payload }: OutboxMessage): { titles: string[]; count: number } {
  const { lines, data } = JSON.parse(payload) as NotificationMessage;
  const { count } = data as { count: number };
  return { titles: lines.slice(0, Math.min(count, TITLES_MAX)), count };
}

const insert = (
  deps: QueueDeps,
  channelId: string,
  message: NotificationMessage,
  delayMs = 0,
): string =>
  enqueueMessage(deps, {
    channel: NOTIFICATION_CHANNEL,
    targetId: channelId,
    eventKind: message.event,
    payload: JSON.stringify(message),
  }, delayMs);
