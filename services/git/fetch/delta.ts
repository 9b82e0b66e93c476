/**
 * Deltas of packs: an object as copies of parts of another one, its base, and as new bytes.
 *
 * @see https://git-scm.com/docs/pack-format
 * @module
 */

/** Size of a copy that says 0. */
const COPY_BYTES = 0x10000;

/**
 * Applies a delta.
 *
 * @returns The object, and the number of instructions that made it.
 * @throws {RangeError} If it does not fit its base, or does not make what it says.
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
): { content: Uint8Array; instructions: number } {
  const { baseSize, size, end } = sizesOf(delta);
  if (baseSize !== base.length) throw new RangeError("The base has another size");
  const content = new Uint8Array(size);
  let at = end;
  let filled = 0;
  let instructions = 0;
  for (; at < delta.length; instructions++) {
    const op = delta[at++]!;
    // 0 is reserved.
    if (op === 0) throw new RangeError("The delta has an unknown instruction");
    let part: Uint8Array;
    if (op & 0x80) {
      const field = (bits: number, count: number) => {
        let value = 0;
        for (let index = 0; index < count; index++) {
          if (bits >> index & 1) value += (delta[at++] ?? NaN) * 256 ** index;
        }
        return value;
      };
      const from = field(op, 4);
      const length = field(op >> 4, 3) || COPY_BYTES;
      if (!(from + length <= base.length)) throw new RangeError("A copy is not inside of the base");
      part = base.subarray(from, from + length);
    } else {
      part = delta.subarray(at, at += op);
      if (part.length !== op) throw new RangeError("The delta is cut");
    }
    // `set` throws for a part that is too long.
    content.set(part, filled);
    filled += part.length;
  }
  if (filled !== size) throw new RangeError("The delta makes less than it says");
  return { content, instructions };
}

/**
 * A delta begins with the sizes of its base and of its result.
 *
 * @returns The sizes, and where the instructions begin.
 * @throws {RangeError} If it is cut.
 */
export function sizesOf(delta: Uint8Array): { baseSize: number; size: number; end: number } {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = delta[at++];
      if (byte === undefined || scale > 2 ** 42) throw new RangeError("The delta is cut");
      value += (byte & 0x7f) * scale;
      if (!(byte & 0x80)) return value;
    }
  };
  const baseSize = number();
  return { baseSize, size: number(), end: at };
}
