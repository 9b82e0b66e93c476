/**
 * Which version of the engine's API is spoken.
 *
 * @module
 */

import { EngineUnreachableError } from "./errors.ts";
import { isAtLeast } from "./query.ts";

/** Of Docker 19.03; older engines are refused. */
const API_VERSION_MIN = "1.40";

/** The newest whose changes are known here. */
export const API_VERSION_MAX = "1.55";

/**
 * The newest version that both sides speak.
 *
 * @param newest What the engine speaks at most, e.g. "1.41".
 * @param oldest What it speaks at least, where known.
 * @throws {EngineUnreachableError} `version` when there is none.
 */
export function commonVersion(newest: string, oldest = API_VERSION_MIN): string {
  if (!isAtLeast(newest, API_VERSION_MIN)) {
    throw new EngineUnreachableError(
      `The container engine is too old: it speaks API version ${newest}, but ` +
        `${API_VERSION_MIN} (Docker 19.03) or newer is needed`,
      "version",
    );
  }
  if (!isAtLeast(API_VERSION_MAX, oldest)) {
    throw new EngineUnreachableError(
      `The container engine is too new: it speaks API version ${oldest} or newer, but ` +
        `${API_VERSION_MAX} is the newest that is known here`,
      "version",
    );
  }
  return isAtLeast(newest, API_VERSION_MAX) ? API_VERSION_MAX : newest;
}
