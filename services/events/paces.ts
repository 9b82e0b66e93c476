/** Receivers with a shortest time between two messages, such as a space of Google Chat. @module */

/** The earliest time of the next message, in milliseconds since 1970, by the receiver's name. */
export type Paces = Map<string, number>;

/**
 * Takes the receiver's turn if it has come.
 *
 * @returns 0, or how long it has to wait, in milliseconds.
 */
export function takeTurn(
  paces: Paces,
  { target, intervalMs }: { target: string; intervalMs: number },
  nowMs: number,
): number {
  for (const [each, nextMs] of paces) if (nextMs <= nowMs) paces.delete(each);
  const nextMs = paces.get(target);
  // The clock may have been set back.
  if (nextMs !== undefined) return Math.min(nextMs - nowMs, intervalMs);
  paces.set(target, nowMs + intervalMs);
  return 0;
}
