/** Channels that send the messages of the outbox. @module */

import type { OutboxAttempt, OutboxMessage } from "../../db/outbox_messages.ts";
import type { Edition } from "../edition.ts";
import type { ChannelDeps, CollectDeps } from "../message_deps.ts";

export type { ChannelDeps, CollectDeps, OutboxAttempt, OutboxMessage };

/**
 * The outcome of an attempt:
 * - `sent`: the receiver accepted it
 * - `retry`: try again after the outbox's delay, or after `afterMs` if that is longer
 * - `wait`: nothing was tried, because the receiver may get its next message after `afterMs`
 * - `failed`: this message can never be sent
 * - `gone`: the receiver accepts no more messages; all its queued messages are given up
 */
export interface OutboxOutcome {
  result: "sent" | "retry" | "wait" | "failed" | "gone";
  /** Status of the response; `null` without one. */
  status: number | null;
  /** A sentence for the user, without content from the receiver; `null` if sent. */
  error: string | null;
  afterMs?: number;
  /** Those of several that did not get the message; only they get it at the next attempt. */
  receivers?: readonly string[];
  /** The receiver's id of the message, for `settle`. */
  reference?: string;
}

/** Webhooks, pushes, chat platforms. Each edition lists its channels. */
export interface OutboxChannel {
  /** As stored with each message, e.g. `webhook`. */
  name: string;
  /** The lowest edition that has it; without it, the channel's messages stay queued. */
  edition: Edition;
  /** The path of what shows the deliveries, e.g. `/api/webhooks`. */
  resource?: string;
  /** Whether a message waits until those before it, to the same target, are sent or given up. */
  isOrdered?: true;
  /** Delays between attempts, in milliseconds; after the last one a message is given up. */
  retryMs?: readonly number[];
  /**
   * Queues messages that waited for others and are due now.
   *
   * @returns Time until the next one is due, in milliseconds; `undefined` without one.
   */
  collect?(deps: CollectDeps): number | undefined;
  /**
   * Tries once to send a message, with its own timeout.
   *
   * @throws {OutboundError|MailError} The message is retried, or given up after a final refusal.
   * @throws {SealError} The message is given up. Any other error is a bug: it is logged, and the
   * message is retried.
   */
  send(deps: ChannelDeps, message: OutboxMessage, signal: AbortSignal): Promise<OutboxOutcome>;
  /** Runs in the transaction that stores the attempt; synchronous. */
  settle?(
    deps: CollectDeps,
    message: OutboxMessage,
    outcome: OutboxOutcome,
    attempt: OutboxAttempt,
  ): void;
}
