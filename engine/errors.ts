/** Errors of the container engine and of the connection to it. @module */

/** The engine responded with an error status; the message is the engine's own text. */
export class EngineError extends Error {
  override readonly name: string = "EngineError";

  /** @param status HTTP status of the response, e.g. 404 or 409. */
  constructor(readonly status: number, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Why there was no usable response. */
export type UnreachableReason =
  | "missing" // the socket does not exist
  | "permission" // the process is not permitted to use the socket
  | "refused" // the socket exists, but no process accepts connections
  | "timeout" // no response in time
  | "broken" // the connection ended before the response was complete
  | "protocol" // the response was malformed or too large
  | "version" // the engine supports no API version that this client supports
  | "busy" // too many requests are already waiting
  | "closed"; // the client was closed

/** The engine gave no usable response. The message is a sentence for the user. */
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
 * The response was malformed or larger than allowed. Callers that do not distinguish this from an
 * unreachable engine can handle the base class.
 */
export class EngineProtocolError extends EngineUnreachableError {
  override readonly name: string = "EngineProtocolError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, "protocol", options);
  }
}

/** The result of an engine call, or `undefined` if the object does not exist (404). */
export async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}
