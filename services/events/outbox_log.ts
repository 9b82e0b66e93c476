/** Messages as delivery logs show them. @module */

import type { OutboxMessage, OutboxStatus } from "../../db/outbox_messages.ts";

export { OUTBOX_STATUSES } from "../../db/outbox_messages.ts";

/** A message in a delivery log. Times are ISO 8601, UTC. */
export interface Delivery {
  /** The same at each attempt. */
  id: string;
  event: string;
  status: OutboxStatus;
  attempts: number;
  /** Of the last attempt; `null` without a response. */
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  sentAt: string | null;
}

export const toDelivery = (message: OutboxMessage): Delivery => ({
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
});
