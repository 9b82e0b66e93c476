/** Events on their way from this member to its hub. @module */

import type { OutgoingMode } from "../../db/fleet_outgoing_events.ts";
import type { AppEvent } from "./events.ts";
import type { OutboxSignal } from "./outbox_signal.ts";

export interface Outgoing {
  /** Whether the hub takes the events of this host, now or when it is back. */
  readonly isNeeded: boolean;
  /** Whether it tells people about them, so that the own channels are silent. */
  readonly isHubTelling: boolean;
  /**
   * Queues an event. Must be called in the transaction of its cause.
   *
   * @param root The event that caused it, or itself.
   */
  add(event: AppEvent, root: AppEvent, mode: OutgoingMode): void;
}

/** The queue, as the member's end of the link uses it. */
export interface OutgoingQueue extends Outgoing {
  /** Notified about each event. */
  readonly signal: OutboxSignal;
  /** Whether the own channels are used, because the hub has been away for too long. */
  isHubAway: boolean;
  /** When the hub last had all events, or took some, in Unix milliseconds; at first the start. */
  hubSeenMs: number;
}
