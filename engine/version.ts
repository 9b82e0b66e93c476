/** Negotiates the version of the engine's API. @module */

import { EngineUnreachableError } from "./errors.ts";
import { isAtLeast } from "./query.ts";

/** Docker 19.03; older engines are not supported. */
const API_VERSION_MIN = "1.40";

/** The newest supported version. */
export const API_VERSION_MAX = "1.55";

/**
 * The newest version that both sides support.
 *
 * @param newest The newest version that the engine supports, e.g. "1.41".
 * @param oldest The oldest version that it supports, if known.
 * @throws {EngineUnreachableError} `version` if there is none.
 */
export function negotiateVersion(newest: string, oldest = API_VERSION_MIN): string {
  if (!isAtLeast(newest, API_VERSION_MIN)) {
    throw new EngineUnreachableError(
      `The container engine is too old: it supports API version ${newest}, but ` +
        `${API_VERSION_MIN} (Docker 19.03) or newer is required`,
      "version",
    );
  }
  if (!isAtLeast(API_VERSION_MAX, oldest)) {
    throw new EngineUnreachableError(
      `The container engine is too new: it requires API version ${oldest} or newer, but ` +
        `${API_VERSION_MAX} is the newest supported version`,
      "version",
    );
  }
  return isAtLeast(newest, API_VERSION_MAX) ? API_VERSION_MAX : newest;
}
