/**
 * Notifications about events, on their way into the outbox.
 *
 * @module
 */

import {
  countMessagesSince,
  type OutboxMessage,
  selectQueuedMessage,
  updateMessagePayload,
  updateThreadSuperseded,
} from "../../../db/ce/outbox_messages.ts";
import { selectSubscribedNotificationChannels } from "../../../db/ce/notification_channels.ts";
import { matchesAny } from "../../auth/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type AppEvent, createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { Recorder } from "../../events/recorder.ts";
import {
  containersOf,
  isAtLeast,
  messageOf,
  type NotificationMessage,
  summaryOf,
} from "./message.ts";

/** The name of the outbox channel; its targets are notification channels. */
export const NOTIFICATION_CHANNEL = "notification";

/** Messages that a channel gets in a minute; the others become one summary. */
const PER_MINUTE_MAX = 20;
const MINUTE_MS = 60_000;

/** Titles that a summary shows. */
const TITLES_MAX = 20;

type QueueDeps = Pick<Deps, "config" | "db" | "now" | "outbox">;

/**
 * Queues a message about an event for each channel that wants it. Nothing is queued during
 * maintenance.
 */
export const notificationRecorder: Recorder = {
  edition: "ce",
  record(deps, event) {
    if (deps.maintenance.active || isFinishedTask(event)) return;
    const channels = selectSubscribedNotificationChannels(deps.db, event.event);
    if (channels.length === 0) return;
    const message = messageOf(event, deps.config);
    const names = containersOf(event);
    for (const { id, minSeverity, containers } of channels) {
      // The end of a problem goes to everyone who got its beginning.
      const isWanted = isAtLeast(message.severity, minSeverity) || message.phase === "end";
      const isMeant = containers === null || names.some((name) => matchesAny(containers, name));
      if (isWanted && isMeant) enqueueNotification(deps, id, message);
    }
  },
};

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

function enqueueNotification(
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
  if (countMessagesSince(db, target, since) < PER_MINUTE_MAX) {
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

/** A task that ended as it should is not a problem; webhooks and streams have the event. */
const isFinishedTask = (event: AppEvent) =>
  event.event === "container.down" && event.data.reason === "exited" && event.data.exitCode === 0;
