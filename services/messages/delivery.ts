/** Delivers queued messages to notification channels. @module */

import {
  deleteThreadReference,
  deleteThreadReferencesBefore,
  insertThreadReference,
  selectNotificationChannel,
  selectThreadReference,
  type StoredNotificationChannel,
  updateNotificationChannel,
} from "../../db/notification_channels.ts";
import { updateMessagePayload } from "../../db/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import type {
  ChannelDeps,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "../events/outbox_channel.ts";
import { failedOutcome } from "../events/outbox_outcome.ts";
import type { OutboundDeps } from "../outbound/url.ts";
import { takeTurn } from "../events/paces.ts";
import { openConfig } from "./config.ts";
import { exchange } from "./exchange.ts";
import { type Delivery, outcomeOf } from "./channels/kinds/kind.ts";
import { channelKind } from "./channels/kinds/mod.ts";
import { fullTitle, type NotificationMessage } from "../events/message.ts";
import { closeSummaries, collectNotifications, NOTIFICATION_CHANNEL } from "./queue.ts";
import { SUMMARY } from "./rate_limit.ts";
import { TemplateError } from "./template.ts";

const HOUR_MS = 3_600_000;

/** After this time a message is given up: it is news no more. */
const AGE_MAX_MS = 24 * HOUR_MS;

/** A problem that lasts longer begins a new thread. */
const THREAD_MAX_MS = 30 * 24 * HOUR_MS;

/** Until the age ends it. */
const RETRY_MS = [5_000, 30_000, 120_000, 600_000, ...Array.from({ length: 26 }, () => HOUR_MS)];

export const notificationChannel: OutboxChannel = {
  name: NOTIFICATION_CHANNEL,
  edition: "ce",
  resource: "/api/notifications/channels",
  isOrdered: true,
  retryMs: RETRY_MS,
  collect: collectNotifications,
  send: sendNotification,
  settle(deps, { id, eventKind, targetId, payload }, outcome, { lastAttemptAt }) {
    const { db, log, now } = deps;
    const { receivers } = outcome;
    if (receivers) {
      updateMessagePayload(db, id, JSON.stringify({ ...JSON.parse(payload), receivers }));
    }
    const channel = selectNotificationChannel(db, targetId);
    if (!channel) return;
    updateNotificationChannel(db, targetId, {
      lastDeliveryAt: lastAttemptAt,
      lastError: outcome.error,
      failingSince: outcome.result === "sent" ? null : channel.failingSince ?? lastAttemptAt,
    });
    if (outcome.result === "sent") {
      const { thread, phase } = JSON.parse(payload) as NotificationMessage;
      const key = { channelId: targetId, thread };
      const { reference } = outcome;
      if (phase === "end") deleteThreadReference(db, key);
      else if (reference !== undefined) {
        insertThreadReference(db, { ...key, reference, createdAt: now().toISOString() });
      }
      // Its problems may have ended before it was sent.
      if (eventKind === SUMMARY) closeSummaries(deps, targetId);
    }
    if (outcome.result === "gone") {
      updateNotificationChannel(db, targetId, { enabled: false, updatedAt: lastAttemptAt });
      log.warn("notification channel disabled: the receiver is gone", { channelId: targetId });
    }
  },
};

/** Forgets the threads of problems whose end was never reported. */
export function sweepThreads({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteThreadReferencesBefore(db, new Date(now().getTime() - THREAD_MAX_MS).toISOString());
}

/** Makes one delivery attempt. @throws {OutboundError|MailError|SealError} */
async function sendNotification(
  deps: ChannelDeps & OutboundDeps,
  { id, targetId, eventKind, createdAt, payload }: OutboxMessage,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const channel = selectNotificationChannel(deps.db, targetId);
  if (!channel) return failedOutcome("The channel was deleted");
  if (!channel.enabled && eventKind !== "test") return failedOutcome("The channel is disabled");
  if (deps.now().getTime() - Date.parse(createdAt) > AGE_MAX_MS) {
    return failedOutcome(`It could not be sent for 24 hours: ${channel.lastError ?? "no attempt"}`);
  }
  const stored: NotificationMessage = JSON.parse(payload);
  const message = { ...stored, title: fullTitle(stored) };
  const reference = selectThreadReference(deps.db, { channelId: targetId, thread: message.thread });
  try {
    return await attempt(deps, channel, { id, message, reference }, signal);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return failedOutcome(`The template, ${error.message}`);
  }
}

async function attempt(
  deps: ChannelDeps & OutboundDeps,
  channel: StoredNotificationChannel,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const kind = channelKind(channel.kind);
  const config = openConfig(deps.secrets, channel);
  if (kind.pace) {
    const target = `${kind.id} ${kind.pace.target(config)}`;
    const { intervalMs } = kind.pace;
    const afterMs = takeTurn(deps.paces, { target, intervalMs }, deps.now().getTime());
    if (afterMs > 0) return { result: "wait", status: null, error: null, afterMs };
  }
  if (kind.send) return await kind.send(deps, config, delivery, signal);
  const request = kind.request!(config, delivery, deps.now());
  const readsBody = kind.outcome !== undefined;
  const answer = await exchange(deps, request, { reach: "internal", signal, readsBody });
  return kind.outcome?.(answer, deps.now()) ?? outcomeOf(answer, deps.now());
}
