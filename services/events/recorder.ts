/**
 * Recorders, which turn events into messages of the outbox.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Edition } from "../license/edition.ts";
import type { AppEvent, NewEvent } from "./events.ts";
import type { Log } from "../log.ts";
import type { Maintenance } from "../state/maintenance.ts";
import type { SnapshotCache } from "../state/snapshot_cache.ts";
import type { OutboxSignal } from "./outbox_signal.ts";

/** What a recorder needs to store a message. */
export interface RecorderDeps {
  db: StateDatabase;
  config: Config;
  maintenance: Maintenance;
  /** Notified by `enqueueMessage()`. */
  outbox: OutboxSignal;
  statusPages: SnapshotCache;
  log: Log;
  now: () => Date;
}

/**
 * Webhooks, pushes, chat channels: each stores its messages about an event in the outbox, and a
 * worker delivers them.
 */
export interface Recorder {
  /** The lowest edition that has it. */
  edition: Edition;
  /** Stays active during the protection period of an ended edition. */
  isProtection?: true;
  /**
   * Runs inside the transaction of the event's cause, and stores nothing without subscribers.
   *
   * @returns Events that this one causes (a monitor went down, so an incident was opened). They are
   * recorded in the same transaction.
   */
  record(deps: RecorderDeps, event: AppEvent): readonly NewEvent[] | undefined;
}
