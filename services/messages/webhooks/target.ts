/**
 * The target of a webhook. Its URL, headers and secret are stored encrypted: many receivers accept
 * messages from any sender that knows the URL.
 *
 * @module
 */

import type { StoredWebhook } from "../../../db/webhooks.ts";
import type { Secrets } from "../../secrets/secrets.ts";

/** The name of the outbox channel. */
export const WEBHOOK_CHANNEL = "webhook";

/** Limit of custom headers per webhook. */
export const WEBHOOK_HEADERS_MAX = 20;

/** Headers that the service sets and that a webhook cannot override. */
export const WEBHOOK_RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);

export interface WebhookTarget {
  url: string;
  headers: Record<string, string>;
  /** `whsec_` and the key as base64 (Standard Webhooks). */
  secret: string;
}

export function sealWebhook(secrets: Secrets, id: string, target: WebhookTarget): string {
  return secrets.seal(JSON.stringify(target), purpose(id));
}

/** @throws {SealError} */
export function openWebhook(
  secrets: Secrets,
  { id, sealed }: Pick<StoredWebhook, "id" | "sealed">,
): WebhookTarget {
  return JSON.parse(secrets.open(sealed, purpose(id)));
}

const purpose = (id: string) => `webhook ${id}`;
