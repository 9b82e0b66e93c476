/** Wakes the deliverer when there are new messages in the outbox. @module */

export interface OutboxSignal {
  /** Called when a message was stored, also before its transaction is committed. */
  notify(): void;
  /**
   * Waits for a notification, for at most `ms` or until `signal` aborts. Returns at once if there
   * was one since the last wait.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Creates a signal for a single waiter. */
export function createOutboxSignal(): OutboxSignal {
  let isNotified = false;
  let wake = () => {};
  return {
    notify() {
      isNotified = true;
      wake();
    },
    async wait(ms, signal) {
      if (!isNotified && !signal.aborted) {
        const woken = Promise.withResolvers<void>();
        const end = wake = () => woken.resolve();
        const timer = setTimeout(end, ms);
        signal.addEventListener("abort", end, { once: true });
        await woken.promise;
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        wake = () => {};
      }
      isNotified = false;
    },
  };
}
