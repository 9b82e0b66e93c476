/** An open link, as its owner uses it. @module */

import type { Control } from "./control.ts";
import type { Link } from "./stream.ts";

export interface OpenLink extends Link {
  /** Sends a control message; a failure ends the link otherwise. */
  tell(message: Control): void;
  /** Ends all streams at once, and closes the link after a last control message. */
  part(message: Control, reason: string): void;
  /** Sends a beat, or closes a link that has been silent for too long. Call it every few seconds. */
  tick(): void;
  /** Sends a beat now. Resolves when it is answered; rejects at the end of the link. */
  probe(): Promise<void>;
  /** Time without a message of the peer, in milliseconds. */
  readonly silentMs: number;
}
