/**
 * Recorders, which turn events into messages of the outbox.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Edition } from "../edition.ts";
import type { AppEvent, NewEvent } from "./events.ts";
import type { Log } from "../log.ts";
import type { Inventory } from "../containers/inventory.ts";
import type { CrashLines } from "../containers/crash_lines.ts";
import type { Maintenance } from "../automation/maintenance/maintenance.ts";
import type { NotificationDecisions } from "../messages/decisions.ts";
import type { Reservations } from "../containers/reservations.ts";
import type { SnapshotCache } from "./snapshot_cache.ts";
import type { OutboxSignal } from "./outbox_signal.ts";

/** What a recorder needs to store a message. */
export interface RecorderDeps {
  db: StateDatabase;
  config: Config;
  crashLines: CrashLines;
  decisions: NotificationDecisions;
  inventory: Inventory;
  maintenance: Maintenance;
  /** Notified by `enqueueMessage()`. */
  outbox: OutboxSignal;
  reservations: Reservations;
  statusPages: SnapshotCache;
  log: Log;
  now: () => Date;
}

/** Why an event causes no messages for now. */
export type Pause = "maintenance" | "silence";

/** Decides which events cause no messages for now. */
export interface Silencer {
  /**
   * Runs inside the transaction of the event's cause. The beginning of a problem is kept, so that it
   * can be reported if the problem lasts longer than the pause.
   *
   * @param cause The event that caused this one, if another one did; it decides.
   */
  pauseOf(event: AppEvent, cause?: AppEvent): Pause | undefined;
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
  /** People get its messages: they are told after a pause what began during it and lasts. */
  isForPeople?: true;
  /**
   * Runs inside the transaction of the event's cause, and stores nothing without subscribers.
   *
   * @param root The event that caused this one in the same transaction, or itself.
   * @param pause Why no message is sent. Webhooks pause during maintenance, not during a silence.
   * @returns Events that this one causes (a monitor went down, so an incident was opened). They are
   * recorded in the same transaction.
   */
  record(
    deps: RecorderDeps,
    event: AppEvent,
    root: AppEvent,
    pause: Pause | undefined,
  ): readonly NewEvent[] | undefined;
}
