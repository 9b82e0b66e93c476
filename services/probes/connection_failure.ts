/** Describes why a connection failed. @module */

/** Descriptions by error code; other codes are reported as they are. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "unreachable: the connection was refused",
  ENOTFOUND: "unreachable: the name does not resolve",
  EAI_AGAIN: "unreachable: the name cannot be resolved at the moment",
  EHOSTUNREACH: "unreachable: there is no route to the host",
  ENETUNREACH: "unreachable: there is no route to the network",
  ETIMEDOUT: "unreachable: the host does not answer",
  ECONNRESET: "the server closed the connection",
  EPIPE: "the server closed the connection",
  ERR_SSL_WRONG_VERSION_NUMBER: "handshake failure: the server does not speak TLS on this port",
  HPE_HEADER_OVERFLOW: "the server's headers are too large",
};

/** A short reason in lower case, e.g. `unreachable: the connection was refused`. */
export function describeConnectionFailure(error: unknown): string {
  const { code, message, errors } = Object(error) as {
    code?: string;
    message?: string;
    errors?: unknown[];
  };
  // Several addresses were tried; report the last one.
  if (errors?.length) return describeConnectionFailure(errors.at(-1));
  const reason = REASONS[code ?? ""];
  if (reason) return reason;
  const alert = /fatal alert:? (\w+)/i.exec(message ?? "")?.[1];
  if (alert) return `handshake failure: the server refused it (${splitWords(alert)})`;
  if (code?.startsWith("HPE_")) return "the server does not speak HTTP on this port";
  if (/tls|ssl/i.test(code ?? "")) return `handshake failure (${code})`;
  return `the connection failed (${code ?? "unknown reason"})`;
}

/** `HandshakeFailure` to `handshake failure`. */
function splitWords(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

/** Starts a sentence of the API. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
