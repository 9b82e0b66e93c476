/** Names as segments of a request's path. @module */

import { EngineError } from "./errors.ts";

// Characters that no id or name contains, and that could break out of the segment.
// deno-lint-ignore no-control-regex
const UNSAFE = /[/\\\x00-\x1f\x7f]/;

/** Maximum length of an id or name; those of the engine are far shorter. */
const NAME_MAX = 1024;

/**
 * Encodes a name as one segment of a path.
 *
 * @param what For the message, e.g. "container".
 * @throws {EngineError} 404 for an invalid name, so that a name such as `..` cannot reach another
 * path of the engine.
 */
export function segment(what: string, name: string): string {
  if (
    name === "" || name === "." || name === ".." || name.length > NAME_MAX || UNSAFE.test(name) ||
    !name.isWellFormed()
  ) throw noSuch(what, name);
  return encodeURIComponent(name);
}

/**
 * Encodes a name that may contain slashes, such as an image's.
 *
 * @throws {EngineError} 404 like `segment()`.
 */
export function segments(what: string, name: string): string {
  const parts = name.split("/");
  if (
    name.length > NAME_MAX || !name.isWellFormed() ||
    parts.some((part) => part === "" || part === "." || part === ".." || UNSAFE.test(part))
  ) throw noSuch(what, name);
  return parts.map(encodeURIComponent).join("/");
}

export const noSuch = (what: string, name: string): EngineError =>
  new EngineError(404, `No such ${what}: ${JSON.stringify(name.slice(0, 100)).slice(1, -1)}`);
