/** An open link, as its owner uses it. @module */

import type { Control } from "./control.ts";
import type { Link } from "./stream.ts";

/** Interval of the beats, in milliseconds. */
export const BEAT_MS = 15_000;

/** Silence after which a link is late, and after which it is closed, in milliseconds. */
export const LATE_MS = 2 * BEAT_MS;
export const AWAY_MS = 75_000;

export interface OpenLink extends Link {
  /** Sends a control message; a failure ends the link otherwise. */
  tell(message: Control): void;
  /** Ends all streams at once, and closes the link after a last control message. */
  part(message: Control, reason: string): void;
  /** Sends a beat, or closes a link that has been silent for too long. Call it every few seconds. */
  tick(): void;
  /** Sends a beat now. Resolves when it is answered; rejects at the end of the link. */
  probe(): Promise<void>;
}
