/**
 * The listener: accepts connections within the limits of `connections.ts` and passes their requests
 * on.
 *
 * @module
 */

import { normalized, trustedPeer } from "../routes/client_address.ts";
import { isStreamed } from "../routes/exchange.ts";
import { addressGroup } from "../services/auth/address_group.ts";
import type { Config } from "../services/config/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { createConnections, RESERVED_DESCRIPTORS } from "./connections.ts";
import { hasFreeDescriptors } from "./descriptors.ts";
import { serveConnection, type ServedConnection } from "./http_connection.ts";
import { openSocket, type SocketConfig, tlsError } from "./listening_socket.ts";
import { createRelay, type Relay } from "./relay.ts";
import { drainBody } from "./unread_body.ts";

export type Listener = ReturnType<typeof listen>;

/** Interval of the check for overdue connections, in milliseconds. */
const CHECK_MS = 5_000;

/** Status of a response after which the connection is a WebSocket. */
const SWITCHING_PROTOCOLS = 101;

/** Pause after a connection could not be accepted, in milliseconds, and how long that may last. */
const RETRY_MS = 100;
const FAILING_MAX_MS = 60_000;

/**
 * @param options.now A monotonic clock in milliseconds.
 * @throws {CommandError} If the port is in use, or a TLS file cannot be used.
 */
export function listen(
  config: SocketConfig & Pick<Config, "maxConnections" | "terminal" | "trustedProxies">,
  log: Log,
  answer: (request: Request, peer: string) => Promise<Response>,
  { now = () => performance.now() }: { now?: () => number } = {},
) {
  const { socket, address, tls } = openSocket(config);
  const onError = (error: unknown) => respondInternalError(log, error);
  const relay = tls || config.terminal !== "off" ? openRelay() : undefined;
  const connections = createConnections({
    max: config.maxConnections,
    hasReserve: () => hasFreeDescriptors(RESERVED_DESCRIPTORS),
    now,
  });
  const isProxy = trustedPeer(config.trustedProxies);
  const served = new Set<ServedConnection>();
  let refused = 0;
  let isClosed = false;

  const accepting = acceptConnections(socket, {
    log,
    now,
    isClosed: () => isClosed,
    onConnection: serve,
    onFailure: connections.relieve,
  });
  const checking = setInterval(check, CHECK_MS);

  return {
    /** E.g. `http://localhost:3000`. */
    address,
    /** Whether it refused connections in the last seconds because there are too many. */
    get isFull() {
      return refused > 0;
    },
    /** Resolves after `shutdown()`; rejects if no connection can be accepted any more. */
    accepting: Promise.race([
      accepting,
      ...(relay ? [relay.finished.then(() => accepting)] : []),
    ]),
    /** Closes overdue connections. */
    check,
    /** Stops listening and waits for the running requests. */
    async shutdown(): Promise<void> {
      isClosed = true;
      clearInterval(checking);
      socket.close();
      connections.closeUnused();
      const ends = [...served].map((each) => each.shutdown());
      await Promise.allSettled([accepting, relay?.shutdown(), ...ends]);
    },
  };

  function openRelay(): Relay {
    try {
      return createRelay(tls, onError);
    } catch (error) {
      socket.close();
      throw tlsError(config, error);
    }
  }

  function check(): void {
    connections.closeOverdue();
    if (refused > 0) log.warn("connections refused", { refused, open: connections.size });
    refused = 0;
  }

  function serve(conn: Deno.Conn): void {
    if (isClosed) return conn.close();
    const peer = (conn.remoteAddr as Deno.NetAddr).hostname;
    const closing = new AbortController();
    const connection = connections.admit({
      group: addressGroup(normalized(peer)),
      isProxy: isProxy(peer),
      close: () => closing.abort(),
    });
    if (!connection) {
      refused++;
      return conn.close();
    }
    const end = () => connections.endRequest(connection);
    const handle = async (request: Request, info: { completed: Promise<void> }) => {
      connections.beginRequest(connection);
      let response: Response | undefined;
      try {
        return response = await respond(request, peer);
      } finally {
        // A WebSocket has ended when its connection is removed.
        if (response && isStreamed(response)) info.completed.then(end, end);
        else if (response?.status !== SWITCHING_PROTOCOLS) end();
      }
    };
    const { signal } = closing;
    const serving = relay
      ? relay.serve(conn, signal, handle)
      : serveConnection(conn, { signal, handle, onError });
    served.add(serving);
    const forget = () => {
      served.delete(serving);
      connections.remove(connection);
    };
    serving.finished.then(forget, forget);
  }

  async function respond(request: Request, peer: string): Promise<Response> {
    const response = await answer(request, peer);
    // A GET has no body. That of a request that became a WebSocket cannot even be read.
    if (request.method !== "GET") await drainBody(request);
    return response;
  }
}

/**
 * Accepts connections until `isClosed`. A failure is usually a lack of file descriptors, which
 * passes.
 *
 * @param options.onFailure Closes connections, so that descriptors become free.
 * @throws The last failure, if accepting fails for a minute.
 */
export async function acceptConnections(
  socket: Pick<Deno.Listener<Deno.Conn>, "accept">,
  { log, now, isClosed, onConnection, onFailure, pause = wait }: {
    log: Log;
    now: () => number;
    isClosed: () => boolean;
    onConnection: (conn: Deno.Conn) => void;
    onFailure: () => void;
    pause?: (ms: number) => Promise<void>;
  },
): Promise<void> {
  let failingSince: number | undefined;
  for (;;) {
    try {
      onConnection(await socket.accept());
      failingSince = undefined;
    } catch (error) {
      if (isClosed()) return;
      if (failingSince === undefined) log.warn("connection not accepted", errorFields(error));
      failingSince ??= now();
      if (now() - failingSince >= FAILING_MAX_MS) throw error;
      onFailure();
      await pause(RETRY_MS);
    }
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function respondInternalError(log: Log, error: unknown): Response {
  log.error("request failed outside of the application", errorFields(error));
  return new Response('{"error":"Internal error"}', {
    status: 500,
    headers: { "content-type": "application/json" },
  });
}
