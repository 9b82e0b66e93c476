/**
 * The blocks that a hub and its members keep: of each image the one with the highest number. Both sides
 * keep the same ones, whatever the order in which they arrive, and whichever side was restored from a
 * backup.
 *
 * @module
 */

import { type ImageKey, keyOf } from "./block.ts";

/** Limit of kept blocks. Those with the lowest numbers end. */
export const BLOCKS_MAX = 200;

/** A kept block, whose other values are in its text. */
export interface KeptBlock extends ImageKey {
  number: number;
  isBlocked: boolean;
  /** As the hub has signed it. */
  text: string;
}

/** Whether a block is news for those who keep `kept`. */
export function isNews(kept: readonly KeptBlock[], given: KeptBlock): boolean {
  const known = kept.find((each) => keyOf(each) === keyOf(given));
  if (known) return given.number > known.number;
  return kept.length < BLOCKS_MAX || kept.some(({ number }) => number < given.number);
}

/** All that are kept after a block has arrived. */
export function withBlock(kept: readonly KeptBlock[], given: KeptBlock): readonly KeptBlock[] {
  if (!isNews(kept, given)) return kept;
  return [...kept.filter((each) => keyOf(each) !== keyOf(given)), given]
    .sort((a, b) => b.number - a.number).slice(0, BLOCKS_MAX);
}

/** A hash by which both sides know whether they keep the same blocks. */
export async function hashOf(kept: readonly KeptBlock[]): Promise<string> {
  const lines = kept.map((each) => `${keyOf(each)} ${each.number}`).sort().join("\n");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(lines));
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * The number of the next change. It also follows the clock, so that what a person does at a hub that
 * was restored from a backup is newer than what was done after the backup.
 */
export const nextNumber = (kept: readonly KeptBlock[], at: Date): number =>
  Math.max(at.getTime(), ...kept.map(({ number }) => number + 1));
