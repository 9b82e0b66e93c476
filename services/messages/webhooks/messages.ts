/** Messages to webhooks: queueing and the delivery log. @module */

import { countOutboxMessages, selectOutboxMessages } from "../../../db/outbox_messages.ts";
import { selectSubscribedWebhooks } from "../../../db/webhooks.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { Deps } from "../../deps.ts";
import { type AppEvent, createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import { type Delivery, toDelivery } from "../../events/outbox_log.ts";
import type { Recorder } from "../../events/recorder.ts";
import { WEBHOOK_CHANNEL } from "./target.ts";
import { findWebhook } from "./webhooks.ts";

/**
 * Queues each event for the webhooks that subscribe to its kind. Nothing is queued during
 * maintenance; messages queued earlier are still delivered.
 */
export const webhookRecorder: Recorder = {
  edition: "ce",
  takesHosts: true,
  record(deps, event, _, pause) {
    if (pause === "maintenance") return;
    for (const id of selectSubscribedWebhooks(deps.db, event.event)) {
      enqueueWebhook(deps, id, event);
    }
  },
};

/**
 * Queues a `test` event for one webhook, regardless of its subscriptions and even if it is
 * disabled.
 *
 * @returns The id of the message.
 * @throws {AppError} `not_found`.
 */
export function testWebhook(
  deps: Pick<Deps, "db" | "now" | "outbox" | "server">,
  id: string,
): string {
  const { name } = findWebhook(deps.db, id);
  return enqueueWebhook(deps, id, {
    event: "test",
    ...createEnvelope(deps),
    data: { message: `Test of the webhook ${name}` },
  });
}

/** Sent and queued messages of a webhook, newest first. @throws {AppError} `not_found`. */
export function listDeliveries(
  { db }: Pick<Deps, "db">,
  id: string,
  page: Page,
): { deliveries: Delivery[] } & Paged {
  findWebhook(db, id);
  const target = { channel: WEBHOOK_CHANNEL, targetId: id };
  const deliveries = selectOutboxMessages(db, target, page).map(toDelivery);
  return { deliveries, total: countOutboxMessages(db, target), ...page };
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
