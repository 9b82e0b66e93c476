/**
 * Ways in which messages of the outbox are sent.
 *
 * @module
 */

import type { OutboxAttempt, OutboxMessage } from "../../db/ce/outbox_messages.ts";
import type { StateDatabase } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Edition } from "../license/edition.ts";
import type { Log } from "../log.ts";
import type { Secrets } from "../secrets.ts";

export type { OutboxAttempt, OutboxMessage };

/**
 * What an attempt came to:
 * - `sent`: the receiver has it
 * - `retry`: later, after the outbox's own pause, or `afterMs` when that is longer
 * - `failed`: this message can never be sent
 * - `gone`: the receiver wants nothing any more; whatever waits for it is given up
 */
export interface OutboxOutcome {
  result: "sent" | "retry" | "failed" | "gone";
  /** Status of the answer; `null` where there was none. */
  status: number | null;
  /** A sentence for the user, without anything that the receiver sent; `null` when sent. */
  error: string | null;
  afterMs?: number;
}

/** What a channel needs to send. */
export interface ChannelDeps {
  db: StateDatabase;
  config: Config;
  secrets: Secrets;
  log: Log;
  now: () => Date;
}

/** Webhooks, pushes, chat platforms: each edition lists its own. */
export interface OutboxChannel {
  /** As stored with each message, e.g. `webhook`. */
  name: string;
  /** The least edition that has it; without it the channel's messages wait. */
  edition: Edition;
  /**
   * Tries to send a message once, within a time of its own. What it throws is taken for a bug, is
   * logged, and tried again.
   */
  send(deps: ChannelDeps, message: OutboxMessage, signal: AbortSignal): Promise<OutboxOutcome>;
  /** Runs in the transaction that stores the attempt; synchronous. */
  settle?(
    deps: ChannelDeps,
    message: OutboxMessage,
    outcome: OutboxOutcome,
    attempt: OutboxAttempt,
  ): void;
}
