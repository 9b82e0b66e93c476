/**
 * Names of things as parts of a request's path.
 *
 * @module
 */

import { EngineError } from "./errors.ts";

// What no id or name of the engine holds: it would leave its place in the path.
// deno-lint-ignore no-control-regex
const STRAY = /[/\\\x00-\x1f\x7f]/;

/** Longest id or name that is sent; the engine's own are far below. */
const NAME_MAX = 1024;

/**
 * One segment of a path, encoded.
 *
 * @param what For the message, e.g. "container".
 * @throws {EngineError} 404 for what cannot be the name of anything (so that no caller can reach
 * another path of the engine by a name such as `..`).
 */
export function segment(what: string, name: string): string {
  if (
    name === "" || name === "." || name === ".." || name.length > NAME_MAX || STRAY.test(name) ||
    !name.isWellFormed()
  ) throw noSuch(what, name);
  return encodeURIComponent(name);
}

/**
 * A name that may have slashes itself, such as an image's; every part encoded.
 *
 * @throws {EngineError} 404 as `segment()`.
 */
export function segments(what: string, name: string): string {
  const parts = name.split("/");
  if (
    name.length > NAME_MAX || !name.isWellFormed() ||
    parts.some((part) => part === "" || part === "." || part === ".." || STRAY.test(part))
  ) throw noSuch(what, name);
  return parts.map(encodeURIComponent).join("/");
}

const noSuch = (what: string, name: string) =>
  new EngineError(404, `No such ${what}: ${JSON.stringify(name.slice(0, 100)).slice(1, -1)}`);
