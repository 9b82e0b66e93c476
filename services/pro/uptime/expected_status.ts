/** The HTTP statuses that a monitor accepts: numbers and ranges, e.g. `200-299,301`. @module */

/** Limit in characters. */
export const EXPECTED_STATUS_MAX = 100;

const PIECE = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

/** Removes spaces; `undefined` if the text is not valid, e.g. a range ends before it begins. */
export function normalizeExpectedStatus(text: string): string | undefined {
  const pieces = text.split(",").map((piece) => piece.replace(/\s+/g, ""));
  return pieces.every((piece) => rangeOf(piece) !== undefined) ? pieces.join(",") : undefined;
}

/** @param expected As returned by {@linkcode normalizeExpectedStatus}. */
export function isExpectedStatus(expected: string, status: number): boolean {
  return expected.split(",").some((piece) => {
    const range = rangeOf(piece);
    return range !== undefined && status >= range.from && status <= range.to;
  });
}

function rangeOf(piece: string): { from: number; to: number } | undefined {
  const [, from, to = from] = PIECE.exec(piece) ?? [];
  if (from === undefined || to === undefined || Number(from) > Number(to)) return undefined;
  return { from: Number(from), to: Number(to) };
}
