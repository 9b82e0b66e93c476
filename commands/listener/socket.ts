/** The listening socket, and the TLS files where they are configured. @module */

import type { Config } from "../../services/config/config.ts";
import { commandError } from "../program.ts";

export type SocketConfig = Pick<Config, "host" | "port" | "tlsCertFile" | "tlsKeyFile">;

export interface ListeningSocket {
  socket: Deno.Listener<Deno.Conn>;
  /** E.g. `http://localhost:3000`. */
  address: string;
  /** Certificate chain and private key (PEM). */
  tls: { cert: string; key: string } | undefined;
}

/**
 * Listens for connections, whose TLS is left to the relay.
 *
 * @throws {CommandError} If the port is in use, or a TLS file cannot be read.
 */
export function openSocket(config: SocketConfig): ListeningSocket {
  const { host, port } = config;
  const tls = tlsFiles(config);
  try {
    const socket = Deno.listen({ hostname: host, port });
    return { socket, tls, address: addressOf(socket.addr as Deno.NetAddr, tls ? "https" : "http") };
  } catch (error) {
    throw commandError(`Cannot listen on ${host}:${port} (HOST and PORT)`, error);
  }
}

/** The error of a relay that cannot be created, which is that of its TLS. */
export const tlsError = ({ tlsCertFile, tlsKeyFile }: SocketConfig, error: unknown) =>
  commandError(
    `TLS_CERT_FILE=${tlsCertFile} and TLS_KEY_FILE=${tlsKeyFile} cannot be used`,
    error,
  );

function tlsFiles(
  { tlsCertFile, tlsKeyFile }: Pick<Config, "tlsCertFile" | "tlsKeyFile">,
): { cert: string; key: string } | undefined {
  if (tlsCertFile === null || tlsKeyFile === null) return undefined;
  const read = (name: string, path: string) => {
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      throw commandError(`${name}=${path} cannot be read`, error);
    }
  };
  return { cert: read("TLS_CERT_FILE", tlsCertFile), key: read("TLS_KEY_FILE", tlsKeyFile) };
}

/** A wildcard address is shown as localhost. */
function addressOf({ hostname, port }: Deno.NetAddr, scheme: string): string {
  const host = hostname === "0.0.0.0" || hostname === "::" ? "localhost" : hostname;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
