/**
 * An answer that is costly to make: made once for all who wait for it, and kept for a while.
 *
 * @module
 */

/**
 * @param keptMs How long an answer is given again after it was made, in milliseconds.
 * @param make Makes it; a failure is everybody's who waits, and is not kept.
 */
export function keepAnswer<Answer>(
  { keptMs, now }: { keptMs: number; now: () => Date },
  make: () => Promise<Answer>,
): () => Promise<Answer> {
  let kept: { answer: Answer; madeMs: number } | undefined;
  let making: Promise<Answer> | undefined;

  const makeAnew = async () => {
    try {
      const answer = await make();
      kept = { answer, madeMs: now().getTime() };
      return answer;
    } finally {
      making = undefined;
    }
  };

  return async () => {
    // The distance, for a clock that was set back would otherwise keep an answer for long.
    if (kept && Math.abs(now().getTime() - kept.madeMs) < keptMs) return kept.answer;
    return await (making ??= makeAnew());
  };
}
