/** Nonces of notes that were accepted, so that each is accepted once. @module */

/** Longer than a note can be valid, in milliseconds: the clock may be set back a little. */
const KEPT_MS = 60_000;

/** Limit of kept nonces: more than a hub can send in that time. */
const NONCES_MAX = 100_000;

export type Nonces = ReturnType<typeof createNonces>;

/** @param now A monotonic clock in milliseconds. */
export function createNonces(now: () => number = () => performance.now(), max = NONCES_MAX) {
  // By the time of their arrival, oldest first.
  const seen = new Map<string, number>();

  return {
    /** Records a nonce. Refuses a known one, and every one while too many are kept. */
    accept(nonce: string): "accepted" | "replayed" | "busy" {
      const at = now();
      for (const [old, arrivedAt] of seen) {
        if (at - arrivedAt < KEPT_MS) break;
        seen.delete(old);
      }
      if (seen.has(nonce)) return "replayed";
      if (seen.size >= max) return "busy";
      seen.set(nonce, at);
      return "accepted";
    },
  };
}
