/**
 * The listening socket.
 *
 * @module
 */

import type { Config } from "../services/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { CommandError } from "./program.ts";

export interface Listener {
  /** As one would type it, e.g. `http://localhost:3000`. */
  address: string;
  /** Waits for the answers under way. */
  shutdown(): Promise<void>;
}

/** @throws {CommandError} When the port is taken, or a TLS file cannot be used. */
export function listen(
  config: Pick<Config, "host" | "port" | "tlsCertFile" | "tlsKeyFile">,
  log: Log,
  answer: (request: Request, peer: string) => Promise<Response>,
): Listener {
  const tls = tlsFiles(config);
  try {
    const server = Deno.serve({
      hostname: config.host,
      port: config.port,
      ...tls,
      onListen: () => {},
      onError(error) {
        log.error("request failed outside of the application", errorFields(error));
        return new Response('{"error":"Internal error"}', {
          status: 500,
          headers: { "content-type": "application/json" },
        });
      },
    }, (request, { remoteAddr }) => answer(request, remoteAddr.hostname));
    return {
      address: addressOf(server.addr, tls ? "https" : "http"),
      shutdown: () => server.shutdown(),
    };
  } catch (error) {
    throw new CommandError(
      `Cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function tlsFiles(
  { tlsCertFile, tlsKeyFile }: Pick<Config, "tlsCertFile" | "tlsKeyFile">,
): { cert: string; key: string } | undefined {
  if (tlsCertFile === null || tlsKeyFile === null) return undefined;
  const read = (name: string, path: string) => {
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      throw new CommandError(`${name}=${path} cannot be read: ${(error as Error).message}`);
    }
  };
  return { cert: read("TLS_CERT_FILE", tlsCertFile), key: read("TLS_KEY_FILE", tlsKeyFile) };
}

/** The wildcard address is reached by the loopback one. */
function addressOf({ hostname, port }: Deno.NetAddr, scheme: string): string {
  const host = hostname === "0.0.0.0" || hostname === "::" ? "localhost" : hostname;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
