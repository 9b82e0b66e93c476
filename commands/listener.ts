/**
 * The listening socket.
 *
 * @module
 */

import type { Config } from "../services/config/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { commandError } from "./program.ts";

export type Listener = ReturnType<typeof listen>;

/** How much of an unread body is read, in bytes, and for how long, in milliseconds. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
const UNREAD_MS_MAX = 2_000;

/** @throws {CommandError} If the port is in use, or a TLS file cannot be used. */
export function listen(
  config: Pick<Config, "host" | "port" | "tlsCertFile" | "tlsKeyFile">,
  log: Log,
  answer: (request: Request, peer: string) => Promise<Response>,
) {
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
    }, (request, { remoteAddr }) => {
      const response = answer(request, remoteAddr.hostname);
      // A GET has no body. That of a request that became a WebSocket cannot even be read.
      return request.method === "GET" ? response : afterBody(request, response);
    });
    return {
      /** E.g. `http://localhost:3000`. */
      address: addressOf(server.addr, tls ? "https" : "http"),
      /** Stops listening and waits for the running requests. */
      shutdown: () => server.shutdown(),
    };
  } catch (error) {
    const { host, port, tlsCertFile, tlsKeyFile } = config;
    const what = tls && !isAddressError(error)
      ? `TLS_CERT_FILE=${tlsCertFile} and TLS_KEY_FILE=${tlsKeyFile} cannot be used`
      : `Cannot listen on ${host}:${port} (HOST and PORT)`;
    throw commandError(what, error);
  }
}

function isAddressError(error: unknown): boolean {
  const { AddrInUse, AddrNotAvailable, PermissionDenied } = Deno.errors;
  return [AddrInUse, AddrNotAvailable, PermissionDenied].some((kind) => error instanceof kind);
}

async function afterBody(request: Request, answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  await drainBody(request);
  return response;
}

/**
 * Reads the rest of a request's body, e.g. of a request that was refused. With HTTP/2 a client that
 * gets a response before it has sent everything sees a broken stream instead.
 */
export async function drainBody({ body, bodyUsed }: Request): Promise<void> {
  if (body === null || bodyUsed || body.locked) return;
  const reader = body.getReader();
  const giveUp = () => void reader.cancel().catch(() => {});
  const late = setTimeout(giveUp, UNREAD_MS_MAX);
  try {
    for (let left = UNREAD_BYTES_MAX; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
    giveUp();
  } catch {
    // The client has disconnected.
  } finally {
    clearTimeout(late);
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
