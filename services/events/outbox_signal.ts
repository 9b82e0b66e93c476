/**
 * Tells whoever delivers that there is something to deliver.
 *
 * @module
 */

export interface OutboxSignal {
  /** Rung when a message was written down, also inside the transaction that does so. */
  ring(): void;
  /**
   * Waits for a ring, for at most `ms`, and no longer than until `signal` aborts. One that was rung
   * since the last wait ends the next at once.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Makes a bell; one waits at a time. */
export function createOutboxSignal(): OutboxSignal {
  let isRung = false;
  let wake = () => {};
  return {
    ring() {
      isRung = true;
      wake();
    },
    async wait(ms, signal) {
      if (!isRung && !signal.aborted) {
        const woken = Promise.withResolvers<void>();
        const end = wake = () => woken.resolve();
        const timer = setTimeout(end, ms);
        signal.addEventListener("abort", end, { once: true });
        await woken.promise;
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        wake = () => {};
      }
      isRung = false;
    },
  };
}
