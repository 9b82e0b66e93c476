/**
 * Sends messages of the outbox to webhooks, signed after Standard Webhooks
 * (github.com/standard-webhooks/standard-webhooks).
 *
 * @module
 */

import {
  selectWebhook,
  updateWebhookEnabled,
  updateWebhookLastDelivery,
} from "../../db/ce/webhooks.ts";
import { OutboundError, outboundRequest } from "../outbound_http.ts";
import type { OutboundDeps } from "../outbound_url.ts";
import type {
  ChannelDeps,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "../outbox_channel.ts";
import { retryAfterMs } from "../retry_after.ts";
import { SealError } from "../secrets.ts";
import { openWebhook, WEBHOOK_CHANNEL } from "./webhook_target.ts";

/** Longest time of one attempt, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** What is read of an answer before the connection is closed; nobody looks at it. */
const BODY_MAX = 64 * 1024;

/** The status by which a receiver says that it wants no more (Standard Webhooks). */
const GONE = 410;

const encoder = new TextEncoder();

export const webhookChannel: OutboxChannel = {
  name: WEBHOOK_CHANNEL,
  edition: "ce",
  send: sendToWebhook,
  settle({ db, log }, { targetId }, { result, status, error }, { lastAttemptAt }) {
    updateWebhookLastDelivery(db, targetId, { at: lastAttemptAt, status, error });
    if (result !== "gone") return;
    updateWebhookEnabled(db, targetId, false);
    log.warn("webhook turned off, for its receiver is gone", { webhookId: targetId });
  },
};

/** Sends a message once; every answer but 2xx is a failure, redirects included. */
export async function sendToWebhook(
  deps: ChannelDeps & OutboundDeps,
  message: OutboxMessage,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const webhook = selectWebhook(deps.db, message.targetId);
  if (!webhook) return failed("The webhook does not exist any more");
  if (!webhook.enabled && message.eventKind !== "test") return failed("The webhook is turned off");
  try {
    const { url, headers, secret } = openWebhook(deps.secrets, webhook);
    const timestamp = Math.floor(deps.now().getTime() / 1000);
    const answer = await outboundRequest(deps, {
      url,
      reach: "public",
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": await signatureOf(secret, message.id, timestamp, message.payload),
      },
      body: message.payload,
      timeoutMs: TIMEOUT_MS,
      bodyMax: BODY_MAX,
      bodyOver: "cut",
      signal,
    });
    return outcomeOf(answer.status, answer.headers["retry-after"], deps.now());
  } catch (error) {
    if (error instanceof SealError) return failed(error.message);
    if (!(error instanceof OutboundError)) throw error;
    return { result: "retry", status: null, error: error.message };
  }
}

/**
 * What `webhook-signature` holds: the HMAC-SHA-256 of id, time and body, joined by points.
 *
 * @param timestamp Unix seconds.
 */
export async function signatureOf(
  secret: string,
  id: string,
  timestamp: number,
  payload: string,
): Promise<string> {
  const key = await crypto.subtle.importKey(
    "raw",
    Uint8Array.fromBase64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signed = encoder.encode(`${id}.${timestamp}.${payload}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return `v1,${signature.toBase64()}`;
}

function outcomeOf(status: number, retryAfter: string | undefined, now: Date): OutboxOutcome {
  if (status >= 200 && status < 300) return { result: "sent", status, error: null };
  if (status === GONE) return { result: "gone", status, error: `HTTP ${status}: gone` };
  const afterMs = retryAfterMs(retryAfter, now);
  const isRedirect = status >= 300 && status < 400;
  return {
    result: "retry",
    status,
    error: `HTTP ${status}${isRedirect ? ": redirects are not followed" : ""}`,
    ...(afterMs !== undefined && { afterMs }),
  };
}

const failed = (error: string): OutboxOutcome => ({ result: "failed", status: null, error });
