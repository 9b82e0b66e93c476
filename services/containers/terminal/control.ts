/** Control messages of a terminal's client. @module */

/** Longest message, in characters. */
const LENGTH_MAX = 256;

/** Largest terminal, in columns and rows. */
export const SIZE_MAX = 1_000;

export interface Control {
  /** Columns and rows. */
  resize: readonly [cols: number, rows: number];
}

/** Parses a text message. @returns The error for the client if it is not valid. */
export function parseControl(text: string): Control | { error: string } {
  if (text.length > LENGTH_MAX) {
    return { error: `A text message is limited to ${LENGTH_MAX} characters` };
  }
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { error: "A text message must be JSON; send input as binary messages" };
  }
  const resize = typeof message === "object" && message !== null && "resize" in message
    ? message.resize
    : undefined;
  if (!isSize(resize)) {
    return { error: `A text message must be {"resize":[cols,rows]}, each from 1 to ${SIZE_MAX}` };
  }
  return { resize };
}

function isSize(value: unknown): value is Control["resize"] {
  return Array.isArray(value) && value.length === 2 &&
    value.every((each) => Number.isInteger(each) && each >= 1 && each <= SIZE_MAX);
}
