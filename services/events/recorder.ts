/**
 * Ways out of the service that must not lose an event.
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

/** What a recorder needs to write down a message. */
export interface RecorderDeps {
  db: StateDatabase;
  config: Config;
  maintenance: Maintenance;
  /** Rung for each message; `enqueueMessage()` does so. */
  outbox: OutboxSignal;
  statusPages: SnapshotCache;
  log: Log;
  now: () => Date;
}

/**
 * Webhooks, pushes, chat channels: each writes its messages about an event into the outbox, from
 * where a worker delivers them.
 */
export interface Recorder {
  /** The least edition that has it. */
  edition: Edition;
  /** Goes on while the protection of an ended edition lasts. */
  isProtection?: true;
  /**
   * Runs inside the transaction of the event's cause; writes nothing where nobody subscribed.
   *
   * @returns Events that follow from this one (a monitor went down, thus an incident was opened).
   * They are recorded in the same transaction.
   */
  record(deps: RecorderDeps, event: AppEvent): readonly NewEvent[] | undefined;
}
