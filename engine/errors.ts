/** Errors of the container engine and of the connection to it. @module */

/** The engine responded with an error status; the message is the engine's own text. */
export class EngineError extends Error {
  override readonly name: string = "EngineError";

  /** @param status HTTP status of the response, e.g. 404 or 409. */
  constructor(readonly status: number, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * A proxy in front of the engine refused the call. The message is a sentence that names the call and
 * the option that allows it. The status is 502, because the engine itself did not refuse anything.
 */
export class RefusedCallError extends EngineError {
  override readonly name: string = "RefusedCallError";

  constructor(message: string) {
    super(502, message);
  }
}

/** Why there was no usable response. */
export type UnreachableReason =
  | "missing" // the socket does not exist
  | "permission" // the process is not permitted to use the socket
  | "address" // the name has no address, or one that must not be used
  | "tls" // the certificate of either side is not accepted
  | "refused" // the socket exists, but no process accepts connections
  | "timeout" // no response in time, which may be due to what was asked
  | "silent" // not even a ping has an answer
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
