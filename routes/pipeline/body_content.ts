/**
 * Parses the text of a request. Its values and fields are counted first, which is cheap: a megabyte
 * of nested brackets or of small fields would keep all other requests waiting for a second.
 *
 * @module
 */

import { AppError } from "../../services/errors.ts";

/** Limit of values in a JSON body: objects, arrays and what they contain. */
export const VALUES_MAX = 5_000;

/** Limit of objects and arrays within each other. */
export const DEPTH_MAX = 64;

/** Limit of the fields of a form, and of the parameters of a query. */
export const FIELDS_MAX = 100;

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Parses a JSON body.
 *
 * @throws {AppError} `too_large` above {@linkcode VALUES_MAX}; `invalid`, also above {@linkcode DEPTH_MAX}.
 */
export function parseJson(text: string): unknown {
  assertFewValues(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("invalid", "body: is not valid JSON", { cause: error });
  }
}

/**
 * Parses a form.
 *
 * @throws {AppError} `too_large` above {@linkcode FIELDS_MAX}.
 */
export function parseForm(text: string): URLSearchParams {
  if (hasManyFields(text)) {
    throw new AppError("too_large", `The body has more than ${FIELDS_MAX} fields`);
  }
  return new URLSearchParams(text);
}

/** @throws {AppError} `invalid` for a URL with more than {@linkcode FIELDS_MAX} parameters. */
export function assertFewParameters(url: string): void {
  if (!hasManyFields(url)) return;
  throw new AppError("invalid", `query: must have at most ${FIELDS_MAX} parameters`);
}

function hasManyFields(text: string): boolean {
  let at = -1;
  for (let count = 1; count <= FIELDS_MAX; count++) {
    at = text.indexOf("&", at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** A value is the first one, or follows a comma or the opening bracket that contains it. */
function assertFewValues(json: string): void {
  let count = 1;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case COMMA:
        count++;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        count++;
        depth++;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
    }
    if (count > VALUES_MAX) {
      throw new AppError("too_large", `The body has more than ${VALUES_MAX} values`);
    }
    if (depth > DEPTH_MAX) {
      throw new AppError("invalid", `body: must not nest more than ${DEPTH_MAX} levels`);
    }
  }
}

/** The index of the quote that ends the string, or the length of the text. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) break;
  }
  return at;
}
