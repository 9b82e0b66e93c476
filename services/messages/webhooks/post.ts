/**
 * Sends one message to a webhook, signed according to Standard Webhooks
 * (github.com/standard-webhooks/standard-webhooks).
 *
 * @module
 */

import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import type { ChannelDeps, OutboxMessage, OutboxOutcome } from "../../events/outbox_channel.ts";
import { GONE, outcomeOfResponse } from "../../events/outbox_outcome.ts";

/** Timeout of one attempt, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Length of a signing secret (Standard Webhooks: 24 to 64), in bytes. */
const SECRET_BYTES = 32;

const encoder = new TextEncoder();

interface WebhookPost extends Pick<OutboxMessage, "id" | "payload"> {
  url: string;
  headers?: Record<string, string>;
  /** `whsec_` and the key as base64; `null` sends the message unsigned. */
  secret: string | null;
}

/** A new secret for {@linkcode signDelivery}. */
export const newSigningSecret = (): string =>
  `whsec_${crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()}`;

/**
 * Sends a message once. Every status except 2xx is a failure, including redirects.
 *
 * @throws {OutboundError}
 */
export async function postWebhook(
  deps: Pick<ChannelDeps, "now"> & OutboundDeps,
  { url, headers, secret, id, payload }: WebhookPost,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const timestamp = Math.floor(deps.now().getTime() / 1000);
  const response = await outboundRequest(deps, {
    url,
    reach: "public",
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      ...(secret !== null &&
        { "webhook-signature": await signDelivery(secret, id, timestamp, payload) }),
    },
    body: payload,
    timeoutMs: TIMEOUT_MS,
    bodyMax: 0,
    bodyOver: "cut",
    signal,
  });
  const reason = response.status === GONE ? "gone" : undefined;
  return outcomeOfResponse(response, deps.now(), { reason });
}

/**
 * The `webhook-signature` header: the HMAC-SHA-256 of id, time and body, joined by periods.
 *
 * @param timestamp Unix seconds.
 */
export async function signDelivery(
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
