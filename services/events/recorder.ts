/** Recorders, which turn events into messages of the outbox. @module */

import type { Edition } from "../edition.ts";
import type { RecorderDeps } from "../message_deps.ts";
import type { AppEvent, NewEvent } from "./events.ts";

export type { RecorderDeps };

/** Why an event causes no messages for now. */
export type Pause = "maintenance" | "silence";

/** Why people get no message; `hub`: that of this member tells them. */
export type PauseOfPeople = Pause | "hub";

/** Decides which events cause no messages for now. */
export interface Silencer {
  /**
   * Runs inside the transaction of the event's cause. The beginning of a problem is kept, so that it
   * can be reported if the problem lasts longer than the pause.
   *
   * @param cause The event that caused this one, if another one did; it decides.
   */
  pauseOf(event: AppEvent, cause?: AppEvent): Pause | undefined;
  /** The pause of an event that is not to be reported, and not kept either. */
  skip(event: AppEvent): Pause;
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
  /** Gets the events of the fleet's hosts as well. */
  takesHosts?: true;
  /** Whether it has a receiver. */
  hasReceivers?(deps: RecorderDeps): boolean;
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
    pause: PauseOfPeople | undefined,
  ): readonly NewEvent[] | undefined;
}
