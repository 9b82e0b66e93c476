/**
 * Silence of a followed log: some engines send nothing more after a log was rotated or truncated
 * (moby#45728).
 *
 * @module
 */

import { isSamePosition, type Position } from "./position.ts";

/** Seconds without a line after which the engine is asked whether there is one. */
const SILENCE_S = 30;

/** Time without a line from the engine. */
interface Silence {
  last: Position | undefined;
  seconds: number;
  /** Whether the engine has a later line. */
  isWrong: boolean;
}

/**
 * Returns a function to call every second with the last line that arrived. It answers whether the
 * engine has a later one that it does not send.
 *
 * @param readLast Reads the last line of the log.
 */
export function createSilenceCheck(
  readLast: () => Promise<Position | undefined>,
): (last: Position | undefined) => boolean {
  let silence: Silence | undefined;
  return (last) => {
    if (!silence || silence.last !== last) silence = { last, seconds: 0, isWrong: false };
    if (silence.isWrong) {
      silence = undefined;
      return true;
    }
    if (++silence.seconds % SILENCE_S > 0) return false;
    const checked = silence;
    readLast().then((found) => {
      // If the line is only on its way, it has arrived by the next second.
      checked.isWrong = found !== undefined &&
        !(checked.last && isSamePosition(found, checked.last));
    }, () => {}); // an engine that is gone is noticed elsewhere
    return false;
  };
}
