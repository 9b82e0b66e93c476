/** Failures of outbound connections. @module */

/** Why there was no response. */
export type OutboundErrorCode =
  | "blocked" // the host or one of its addresses is refused
  | "unresolvable" // the name has no address
  | "timeout" // not in time
  | "too_large" // more bytes than allowed
  | "tls" // the certificate is not valid for the name, or the server does not speak TLS
  | "network" // refused, reset, or not HTTP
  | "redirect"; // too many, or to an unusable address

/**
 * A failed call. The message is a sentence for the user and repeats nothing that the other side
 * sent, which may be an internal service.
 */
export class OutboundError extends Error {
  override readonly name = "OutboundError";

  constructor(readonly code: OutboundErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

export const timeoutError = (timeoutMs: number) =>
  new OutboundError("timeout", `No answer within ${timeoutMs} ms`);

/** No connection to any address of the host. */
const UNREACHABLE = new Set([
  "EACCES",
  "EADDRNOTAVAIL",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "EPERM",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "ETIMEDOUT",
]);

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
};

/** Codes of certificates that the runtime refuses, and of connections without TLS. */
const UNTRUSTED = /CERT|ISSUER|SIGNATURE|CRL/;
const TLS = /^(ERR_SSL|ERR_TLS|EPROTO)/;

/** Translates a failure of the runtime's sockets and HTTP client by its code. */
export function asOutboundError(cause: unknown, url: Pick<URL, "host">): OutboundError {
  if (cause instanceof OutboundError) return cause;
  const { host } = url;
  const { code = "" } = Object(cause) as { code?: string };
  const error = (is: OutboundErrorCode, message: string) =>
    new OutboundError(is, message, { cause });

  if (code === "ECONNREFUSED") return error("network", `${host} refused the connection`);
  if (UNREACHABLE.has(code)) return error("network", `${host} cannot be reached`);
  const problem = CERTIFICATE_PROBLEMS[code];
  if (problem) return error("tls", `${host}: ${problem}`);
  if (TLS.test(code)) return error("tls", `${host}: TLS could not be established`);
  if (UNTRUSTED.test(code)) return error("tls", `${host}: the certificate is not trusted`);
  if (code === "HPE_HEADER_OVERFLOW") {
    return error("too_large", `${host} sent response headers that are too large`);
  }
  if (code.startsWith("HPE_")) return error("network", `${host} did not answer with HTTP`);
  return error("network", `The connection to ${host} ended without an answer`);
}
