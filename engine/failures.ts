/** Errors of the connection and of the engine, with messages for users. @module */

import { EngineError, EngineUnreachableError, type UnreachableReason } from "./errors.ts";

/** Maximum length of the engine's own text in a message. */
const TEXT_MAX = 2_000;

/** Turns an error of `Deno.connect()` into one that explains the cause. */
export function toConnectError(cause: unknown, socketPath: string): EngineUnreachableError {
  const { ConnectionRefused, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  const failure = (reason: UnreachableReason, message: string) =>
    new EngineUnreachableError(message, reason, { cause });
  if (cause instanceof NotFound || cause instanceof NotADirectory) {
    const message = `No container engine at ${socketPath}: the socket does not exist`;
    return failure("missing", message);
  }
  if (cause instanceof PermissionDenied || cause instanceof NotCapable) {
    return failure(
      "permission",
      `No permission to use the container engine's socket ${socketPath}: this user must be ` +
        `allowed to read and write it (for Docker: be a member of the group that owns it)`,
    );
  }
  const what = cause instanceof ConnectionRefused
    ? "is not running: no process listens on its socket"
    : `does not accept connections: ${messageOf(cause)}`;
  return failure("refused", `The container engine at ${socketPath} ${what}`);
}

/**
 * Turns an error response of the engine into an error.
 *
 * @param body JSON with a `message`, from both engines; may be empty, or plain text.
 */
export function toEngineError(status: number, body: string): EngineError {
  let text: unknown = body;
  try {
    text = JSON.parse(body).message ?? body;
  } catch {
    // A proxy in front of the engine may respond with plain text.
  }
  const message = String(text).trim().slice(0, TEXT_MAX) ||
    `The engine responded with status ${status}`;
  return new EngineError(status === 500 ? statusOf(message) : status, message);
}

/**
 * The status that fits an internal error of the engine. Podman reports every failure as one; Docker
 * up to 20.10 reports a service that has changed in the meantime and a container that is not paused.
 */
function statusOf(message: string): number {
  if (CONFLICTS.test(message)) return 409;
  return INVALID.test(message) ? 400 : 500;
}

const CONFLICTS =
  /container state improper|is already (in use|used)|already exists|is being used|in use by|update out of sequence|is not paused|conflicts with a valid network|default network \S+ cannot be removed/i;

const INVALID = /: invalid argument$|^invalid signal|does not support signal/i;

/** Whether the engine refused the API version; it checks this before anything else. */
export function isVersionRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.status === 400 &&
    /client version \S+ is too (?:old|new)/i.test(error.message);
}

/** Copies a failure for another caller, so that each has its own stack. */
export function copyFailure(failure: EngineUnreachableError): EngineUnreachableError {
  return new EngineUnreachableError(failure.message, failure.reason, { cause: failure });
}

export const messageOf = (error: unknown) => error instanceof Error ? error.message : String(error);
