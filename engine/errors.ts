/**
 * What can go wrong between the service and the container engine.
 *
 * @module
 */

/** The engine answered with a failure; the message is the engine's own text. */
export class EngineError extends Error {
  override readonly name: string = "EngineError";

  /** @param status HTTP status of the engine's answer, e.g. 404 or 409. */
  constructor(readonly status: number, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * Why there was no usable answer:
 * - `missing`: there is no socket at the path
 * - `permission`: the process may not use the socket
 * - `refused`: the socket is there, but nobody listens (or accepts) behind it
 * - `timeout`: no answer in time
 * - `broken`: the connection ended before the answer did
 * - `protocol`: the answer was malformed or too large
 * - `version`: the engine speaks no API version that we speak
 * - `busy`: too many requests of ours are already waiting
 * - `closed`: the client was closed
 */
export type UnreachableReason =
  | "missing"
  | "permission"
  | "refused"
  | "timeout"
  | "broken"
  | "protocol"
  | "version"
  | "busy"
  | "closed";

/** The engine gave no usable answer. The message is a sentence for the user. */
export class EngineUnreachableError extends Error {
  override readonly name: string = "EngineUnreachableError";

  constructor(
    message: string,
    readonly reason: UnreachableReason = "broken",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * The engine's answer was malformed or larger than allowed. Callers that only want to know that
 * there is no usable answer may treat it as what it extends.
 */
export class EngineProtocolError extends EngineUnreachableError {
  override readonly name: string = "EngineProtocolError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, "protocol", options);
  }
}

/** The answer of the engine, or `undefined` where it has no such thing (404). */
export async function ifThere<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}
