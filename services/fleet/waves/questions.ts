/** Questions of a member to its hub, whose answers come as other messages of the link. @module */

import { withDeadline } from "../../deadline.ts";

/** Longest wait for an answer, in milliseconds. */
const ANSWER_MS = 10_000;

export interface Questions {
  /**
   * Asks, and waits for the answer.
   *
   * @returns Why not; `null` if it is allowed; `undefined` without an answer in time.
   */
  ask(send: (id: number) => void): Promise<string | null | undefined>;
  answer(id: number, refusal: string | null): void;
}

export function createQuestions(): Questions {
  const waiting = new Map<number, (refusal: string | null) => void>();
  let next = 0;
  return {
    async ask(send) {
      const id = next++;
      const { promise, resolve } = Promise.withResolvers<string | null>();
      waiting.set(id, resolve);
      try {
        send(id);
        return await withDeadline(promise, ANSWER_MS);
      } finally {
        waiting.delete(id);
      }
    },
    answer(id, refusal) {
      waiting.get(id)?.(refusal);
    },
  };
}
