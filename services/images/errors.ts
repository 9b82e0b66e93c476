/** Failures of the engine while it transfers an image. @module */

import { EngineError, RefusedCallError } from "../../engine/errors.ts";
import { AppError } from "../errors.ts";

/**
 * Adds what failed to the engine's text, e.g. `Image x could not be pulled: manifest unknown`. Other
 * errors are returned as they are.
 */
export function asJobError(error: unknown, what: string): unknown {
  if (!(error instanceof EngineError) || error instanceof RefusedCallError) return error;
  const { status, message } = error;
  if (status === 507) {
    return new AppError("unavailable", `${what}: the disk of the engine is full`, { cause: error });
  }
  const code = status === 400 ? "invalid" : status === 404 ? "not_found" : "bad_gateway";
  return new AppError(code, `${what}: ${message}`, { cause: error });
}
