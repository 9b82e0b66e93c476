/**
 * Limits the connections for reading past lines. A reader that is not ready for more lines keeps its
 * connection only while no other reader needs one.
 *
 * @module
 */

import { abortable } from "../../deadline.ts";

/** The right to use a connection. */
export interface ReadSlot {
  /** Aborts when another reader needs the slot; the read has to end then. */
  readonly evicted: AbortSignal;
  /** Waits for the client, during which the slot may be evicted. */
  idleDuring(wait: Promise<void>): Promise<void>;
  release(): void;
}

export interface ReadSlots {
  /** Waits for a slot. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<ReadSlot>;
}

export function createReadSlots(max: number): ReadSlots {
  let used = 0;
  const waiting = new Set<() => void>();
  /** Longest first. */
  const idle = new Set<AbortController>();

  const evict = () => {
    const [longest] = idle;
    if (!longest) return;
    idle.delete(longest);
    longest.abort();
  };

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (used < max) used++;
      else {
        const turn = Promise.withResolvers<void>();
        const enter = () => turn.resolve();
        const leave = () => {
          if (waiting.delete(enter)) turn.reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener("abort", leave, { once: true });
        evict();
        await turn.promise.finally(() => signal.removeEventListener("abort", leave));
      }
      const eviction = new AbortController();
      let isReleased = false;
      return {
        evicted: eviction.signal,
        async idleDuring(wait) {
          idle.add(eviction);
          if (waiting.size > 0) evict();
          try {
            await abortable(wait, eviction.signal);
          } catch (error) {
            if (!eviction.signal.aborted) throw error;
          } finally {
            idle.delete(eviction);
          }
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          idle.delete(eviction);
          // The slot passes to the next reader.
          const [next] = waiting;
          if (!next) return void used--;
          waiting.delete(next);
          next();
        },
      };
    },
  };
}
