/** Changes of objects that others change at the same time. @module */

import { EngineError } from "../../engine/errors.ts";

/** Limit of attempts when the object is changed concurrently. */
const ATTEMPTS_MAX = 5;

/** Repeats `work`, which reads an object and changes it, if it was changed in between. */
export async function retryOutOfSequence<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfSequence(error) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

function isOutOfSequence(error: unknown): boolean {
  return error instanceof EngineError && /out of sequence/i.test(error.message);
}
