/** Delivers outbox messages to webhooks. @module */

import {
  selectWebhook,
  updateWebhookEnabled,
  updateWebhookLastDelivery,
} from "../../../db/webhooks.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import type {
  ChannelDeps,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "../../events/outbox_channel.ts";
import { failedOutcome } from "../../events/outbox_outcome.ts";
import { postWebhook } from "./post.ts";
import { openWebhook, WEBHOOK_CHANNEL } from "./target.ts";

export const webhookChannel: OutboxChannel = {
  name: WEBHOOK_CHANNEL,
  edition: "ce",
  resource: "/api/webhooks",
  send: sendToWebhook,
  settle({ db, log }, { targetId }, { result, status, error }, { lastAttemptAt }) {
    updateWebhookLastDelivery(db, targetId, { at: lastAttemptAt, status, error });
    if (result !== "gone") return;
    updateWebhookEnabled(db, targetId, false);
    log.warn("webhook disabled: receiver answered 410 Gone", { webhookId: targetId });
  },
};

/** Makes one delivery attempt. @throws {OutboundError|SealError} */
export async function sendToWebhook(
  deps: ChannelDeps & OutboundDeps,
  message: OutboxMessage,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const webhook = selectWebhook(deps.db, message.targetId);
  if (!webhook) return failedOutcome("The webhook was deleted");
  if (!webhook.enabled && message.eventKind !== "test") {
    return failedOutcome("The webhook is disabled");
  }
  const { id, payload } = message;
  return await postWebhook(deps, { ...openWebhook(deps.secrets, webhook), id, payload }, signal);
}
