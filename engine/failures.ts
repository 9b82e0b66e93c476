/** Errors of the connection and of the engine, with messages for users. @module */

import { describeRefusal, type Method } from "./calls.ts";
import {
  EngineError,
  EngineUnreachableError,
  RefusedCallError,
  type UnreachableReason,
} from "./errors.ts";

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

/** Turns the end of a connection into an error. */
export function toBrokenError(cause: unknown, address: string): EngineUnreachableError {
  // With TLS 1.3 the engine refuses the client's certificate after the handshake.
  const first = cause instanceof Error && cause.cause ? cause.cause : cause;
  const alert = /received fatal alert: (\w+)/.exec(messageOf(first))?.[1];
  if (alert !== undefined) {
    const message =
      `The container engine at ${address} refuses the client certificate (${alert}): ` +
      "cert.pem and key.pem in DOCKER_CERT_PATH must be signed by an authority that it trusts";
    return new EngineUnreachableError(message, "tls", { cause });
  }
  const message = `The connection to the container engine at ${address} broke`;
  return new EngineUnreachableError(message, "broken", { cause });
}

/**
 * Turns an error response into an error. Both engines respond with JSON that has a `message`; a proxy
 * in front of them responds with a page or plain text of its own.
 *
 * @param response.path Without version and query.
 */
export function toResponseError({ method, path, status, body, address }: {
  method: Method;
  path: string;
  status: number;
  body: string;
  address: string;
}): EngineError | EngineUnreachableError {
  const own = messageIn(body);
  if (own === undefined && (status === 403 || status === 405)) {
    return new RefusedCallError(describeRefusal(method, path));
  }
  if (own === undefined && status >= 502 && status <= 504) {
    return new EngineUnreachableError(
      `The proxy at ${address} does not reach the container engine (status ${status})`,
    );
  }
  if (own === undefined && NEEDS_TLS.test(body)) {
    return new EngineUnreachableError(
      `The container engine at ${address} requires TLS: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH`,
      "tls",
    );
  }
  const text = own ?? (/^\s*</.test(body) ? "" : body);
  const message = text.trim().slice(0, TEXT_MAX) || `The engine responded with status ${status}`;
  return new EngineError(status === 500 ? statusOf(message) : status, message);
}

/** Texts of a Go program and of nginx. */
const NEEDS_TLS = /HTTP request (was sent )?to an? HTTPS (server|port)/;

function messageIn(body: string): string | undefined {
  try {
    const { message } = Object(JSON.parse(body));
    return message === undefined || message === null ? undefined : String(message);
  } catch {
    return undefined;
  }
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
