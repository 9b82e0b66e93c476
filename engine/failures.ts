/**
 * What went wrong on the way to the engine and at the engine, in the user's words.
 *
 * @module
 */

import { EngineError, EngineUnreachableError } from "./errors.ts";

/** Most characters of the engine's own text that are passed on. */
const TEXT_MAX = 2_000;

/** Why there is no connection, from what `Deno.connect()` throws. */
export function connectFailure(error: unknown, socketPath: string): EngineUnreachableError {
  const cause = { cause: error };
  if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
    return new EngineUnreachableError(
      `There is no container engine at ${socketPath}: the socket does not exist`,
      "missing",
      cause,
    );
  }
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return new EngineUnreachableError(
      `No permission to use the container engine's socket ${socketPath}: this user must be ` +
        `allowed to read and write it (for Docker: be a member of the group that owns it)`,
      "permission",
      cause,
    );
  }
  if (error instanceof Deno.errors.ConnectionRefused) {
    return new EngineUnreachableError(
      `The container engine at ${socketPath} is not running: nobody listens on its socket`,
      "refused",
      cause,
    );
  }
  return new EngineUnreachableError(
    `The container engine at ${socketPath} does not accept connections: ${messageOf(error)}`,
    "refused",
    cause,
  );
}

/**
 * A failure that the engine answered.
 *
 * @param body JSON with a `message`, from both engines; may be empty, or plain text.
 */
export function answeredFailure(status: number, body: string): EngineError {
  let text: unknown = body;
  try {
    text = JSON.parse(body).message ?? body;
  } catch {
    // Proxies before an engine answer plain text.
  }
  const message = String(text).trim().slice(0, TEXT_MAX) || `The engine answered status ${status}`;
  return new EngineError(isConflict(status, message) ? 409 : status, message);
}

/**
 * Whether the engine calls a failure of its own what is only in the way: Podman when a container is
 * in the wrong state or a name is taken, Docker up to 20.10 when a service was changed meanwhile.
 */
function isConflict(status: number, message: string): boolean {
  return status === 500 &&
    /container state improper|is already in use|is being used|in use by|update out of sequence/i
      .test(message);
}

/** Both engines refuse a version so, before they look at anything else. */
export function isVersionRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.status === 400 &&
    /client version \S+ is too (?:old|new)/i.test(error.message);
}

/** The same failure for another caller, so that none sees another one's stack. */
export function again(failure: EngineUnreachableError): EngineUnreachableError {
  return new EngineUnreachableError(failure.message, failure.reason, { cause: failure });
}

export const messageOf = (error: unknown) => error instanceof Error ? error.message : String(error);
