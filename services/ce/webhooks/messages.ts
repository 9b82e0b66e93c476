/**
 * What is queued for webhooks, and what became of it.
 *
 * @module
 */

import {
  countOutboxMessages,
  type OutboxStatus,
  selectOutboxMessages,
} from "../../../db/ce/outbox_messages.ts";
import { selectSubscribedWebhooks } from "../../../db/ce/webhooks.ts";
import type { Deps } from "../../deps.ts";
import { type AppEvent, createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { Recorder } from "../../events/recorder.ts";
import { WEBHOOK_CHANNEL } from "./target.ts";
import { existingWebhook } from "./webhooks.ts";

export { OUTBOX_STATUSES } from "../../../db/ce/outbox_messages.ts";

/** One message to a webhook as shown. */
export interface WebhookDelivery {
  /** As the receiver reads it in `webhook-id`. */
  id: string;
  event: string;
  status: OutboxStatus;
  attempts: number;
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
}

/**
 * Queues each event for the webhooks that subscribed to its kind. During maintenance nothing is
 * queued: what was announced needs no notice. What was queued before is still delivered.
 */
export const webhookRecorder: Recorder = {
  edition: "ce",
  record(deps, event) {
    if (deps.maintenance.active) return;
    for (const id of selectSubscribedWebhooks(deps.db, event.event)) {
      enqueueWebhook(deps, id, event);
    }
  },
};

/**
 * Queues a `test` event for one webhook, whatever it subscribed to and also while it is off.
 *
 * @returns The id of the message.
 * @throws {AppError} `not_found`.
 */
export function testWebhook(
  deps: Pick<Deps, "db" | "now" | "outbox" | "server">,
  id: string,
): string {
  const { name } = existingWebhook(deps.db, id);
  return enqueueWebhook(deps, id, {
    event: "test",
    ...createEnvelope(deps),
    data: { message: `Test of the webhook ${name}` },
  });
}

/** What was sent to a webhook, or is to be sent, newest first. @throws {AppError} `not_found`. */
export function listDeliveries(
  { db }: Pick<Deps, "db">,
  id: string,
  { limit, offset }: { limit: number; offset: number },
): { deliveries: WebhookDelivery[]; total: number; limit: number; offset: number } {
  existingWebhook(db, id);
  const target = { channel: WEBHOOK_CHANNEL, targetId: id };
  const deliveries = selectOutboxMessages(db, target, { limit, offset }).map((message) => ({
    id: message.id,
    event: message.eventKind,
    status: message.status,
    attempts: message.attempts,
    responseStatus: message.lastStatus,
    error: message.lastError,
    createdAt: message.createdAt,
    lastAttemptAt: message.lastAttemptAt,
    nextAttemptAt: message.nextAttemptAt,
    sentAt: message.sentAt,
  }));
  return { deliveries, total: countOutboxMessages(db, target), limit, offset };
}

function enqueueWebhook(
  deps: Pick<Deps, "db" | "now" | "outbox">,
  id: string,
  event: AppEvent,
): string {
  return enqueueMessage(deps, {
    channel: WEBHOOK_CHANNEL,
    targetId: id,
    eventKind: event.event,
    payload: JSON.stringify(event),
  });
}
