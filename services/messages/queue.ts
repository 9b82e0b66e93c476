/** Notifications about events, on their way into the outbox. @module */

import { selectThreadMessage, updateThreadSuperseded } from "../../db/outbox_messages.ts";
import { hasOpenGroup } from "../../db/notification_groups.ts";
import {
  selectEnabledNotificationChannels,
  selectNotificationChannels,
  type StoredNotificationChannel,
} from "../../db/notification_channels.ts";
import type { Deps } from "../deps.ts";
import { inline } from "../events/text.ts";
import { type AppEvent, createEnvelope } from "../events/events.ts";
import { enqueueMessage } from "../events/outbox.ts";
import type { CollectDeps } from "../events/outbox_channel.ts";
import type { Recorder, RecorderDeps } from "../events/recorder.ts";
import { isSubscribed, wantsEvent } from "./filter.ts";
import type { Bundle } from "./bundle.ts";
import { flushGroups, groupEvent, type Receivers } from "./grouping.ts";
import { holdNotification, isOnCall } from "./holding.ts";
import { linkTo, messageOf, type NotificationMessage, summaryOf } from "../events/message.ts";
import { enqueueLimited, isLimitReached, titlesOf } from "./rate_limit.ts";

/** The name of the outbox channel; its targets are notification channels. */
export const NOTIFICATION_CHANNEL = "notification";

/** A notification channel as a target of the outbox. */
export const targetOf = (channelId: string) => ({
  channel: NOTIFICATION_CHANNEL,
  targetId: channelId,
});

/** On-call services have one alert for all summaries, so that it can be closed. */
const SUMMARIES = "summaries";

type QueueDeps = Pick<Deps, "config" | "db" | "now" | "outbox">;

/** Decides which channels get a message about an event, and when. */
export const notificationRecorder: Recorder = {
  edition: "ce",
  isForPeople: true,
  takesHosts: true,
  hasReceivers: ({ db }) => selectEnabledNotificationChannels(db).length > 0,
  record(deps, event, root, pause) {
    groupEvent(deps, receiversOf(deps, event), { event, root, pause });
  },
};

const receiversOf = (deps: RecorderDeps, event: AppEvent): Receivers => ({
  channel: NOTIFICATION_CHANNEL,
  send: sender(deps),
  targets: selectEnabledNotificationChannels(deps.db).map((channel) => ({
    id: channel.id,
    isOnCall: isOnCall(channel),
    subscribes: (kind) => isSubscribed(channel, kind),
    wants: () => wantsEvent(deps, channel, event),
  })),
});

/** Queues the messages that waited for others. */
export const collectNotifications = (deps: CollectDeps): number | undefined =>
  flushGroups(deps, NOTIFICATION_CHANNEL, sender(deps));

/** For one transaction: it reads the channels and renders the message about an event once. */
function sender(deps: QueueDeps): (channelId: string, bundle: Bundle) => void {
  let channels: Map<string, StoredNotificationChannel> | undefined;
  let last: { key: string; message: NotificationMessage } | undefined;
  return (channelId, { event, also, thread, phase }) => {
    channels ??= new Map(selectNotificationChannels(deps.db).map((each) => [each.id, each]));
    const channel = channels.get(channelId);
    if (!channel) return;
    const key = [event.eventId, ...also].join("\n");
    if (last?.key !== key) last = { key, message: messageOf(event, deps.config, also) };
    enqueueNotification(deps, channel, { ...last.message, thread, phase });
  };
}

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

/** Queues a message, or holds it back for the end of the quiet hours or a digest. */
export function enqueueNotification(
  deps: QueueDeps,
  channel: StoredNotificationChannel,
  message: NotificationMessage,
): void {
  if (!holdNotification(deps, NOTIFICATION_CHANNEL, channel, message)) {
    enqueueNow(deps, channel, message);
  }
}

/** Queues a message also during the quiet hours. */
export function enqueueNow(
  deps: QueueDeps,
  channel: Pick<StoredNotificationChannel, "id" | "kind">,
  message: NotificationMessage,
): void {
  const { db } = deps;
  const target = targetOf(channel.id);
  if (message.phase === "end") {
    // An event that is over before it could be sent is not sent any more.
    updateThreadSuperseded(db, { ...target, thread: message.thread }, "It ended before");
    if (isOnCall(channel)) return closeAlert(deps, channel.id, message);
  }
  enqueueWithLimit(deps, channel, message);
}

/**
 * Queues a message, or adds it to the summary of what exceeds the limit. Must be called in a
 * transaction.
 *
 * @returns The id of the message or summary.
 */
export function enqueueWithLimit(
  deps: QueueDeps,
  channel: Pick<StoredNotificationChannel, "id" | "kind">,
  message: NotificationMessage,
): string {
  const { config, now } = deps;
  return enqueueLimited(deps, {
    ...targetOf(channel.id),
    eventKind: message.event,
    title: message.title,
    write: () => JSON.stringify(message),
    writeSummary: ({ titles, count }) => {
      const link = linkTo(config, "/");
      const summary = summaryOf(titles, count, { server: message.server, now: now(), link });
      const thread = isOnCall(channel) ? SUMMARIES : summary.thread;
      return JSON.stringify({ ...summary, thread });
    },
    readSummary: (payload) => {
      const { data, lines } = JSON.parse(payload) as NotificationMessage;
      const { count } = data as { count: number };
      return { titles: titlesOf(lines, count), count };
    },
  });
}

/**
 * Closes an alert at an on-call service whatever the limit, because it would stay open otherwise. One
 * that was only in a summary is not worth a message beyond the limit.
 */
function closeAlert(deps: QueueDeps, channelId: string, message: NotificationMessage): void {
  const target = targetOf(channelId);
  const isOpened = selectThreadMessage(deps.db, { ...target, thread: message.thread });
  if (isOpened || !isLimitReached(deps, target)) insert(deps, channelId, message);
  closeSummaries(deps, channelId);
}

/**
 * Closes the alert of the summaries at an on-call service once all problems of the channel have
 * ended. Must be called in a transaction.
 */
export function closeSummaries(
  deps: Pick<Deps, "db" | "now" | "outbox">,
  channelId: string,
): void {
  const { db, now } = deps;
  const target = targetOf(channelId);
  const last = selectThreadMessage(db, { ...target, thread: SUMMARIES });
  if (last?.status !== "sent" || hasOpenGroup(db, target)) return;
  const summary: NotificationMessage = JSON.parse(last.payload);
  if (summary.phase === "end") return;
  insert(deps, channelId, {
    ...summary,
    eventId: crypto.randomUUID(),
    event: "summary.over",
    timestamp: now().toISOString(),
    severity: "info",
    tone: "good",
    title: `${inline(summary.server)}: all problems have ended`,
    lines: [],
    phase: "end",
  });
}

const insert = (
  deps: Pick<Deps, "db" | "now" | "outbox">,
  channelId: string,
  message: NotificationMessage,
): string =>
  enqueueMessage(deps, {
    ...targetOf(channelId),
    eventKind: message.event,
    payload: JSON.stringify(message),
  });
