/**
 * The listener: accepts connections within the limits of `connections.ts` and passes their requests
 * on.
 *
 * @module
 */

import { clientAddress, normalized, trustedPeer } from "../../routes/pipeline/client_address.ts";
import { SMALL_BYTES, streamOf, wholeBody } from "../../routes/pipeline/exchange.ts";
import { addressGroup } from "../../services/access/address_group.ts";
import type { Config } from "../../services/config/config.ts";
import type { Log } from "../../services/log.ts";
import { type Connection, createConnections } from "./connections.ts";
import { hasFreeDescriptors } from "./descriptors.ts";
import { discardHiddenBody } from "./hidden_body.ts";
import { serveConnection, type ServedConnection } from "./http_connection.ts";
import { respondInternalError } from "./internal_error.ts";
import { openSocket, type SocketConfig, tlsError } from "./socket.ts";
import { createRelay, type Relay, RELAYED_DESCRIPTORS } from "./relay.ts";
import { persist, type Persistence } from "../persistence.ts";
import { drainBody } from "./unread_body.ts";

export type Listener = ReturnType<typeof listen>;

/** Interval of the check for overdue connections, in milliseconds. */
const CHECK_MS = 5_000;

/** Status of a response after which the connection is a WebSocket. */
const SWITCHING_PROTOCOLS = 101;

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
  const isRelayed = tls !== undefined || config.terminal !== "off";
  const connections = createConnections({
    max: config.maxConnections,
    descriptors: isRelayed ? RELAYED_DESCRIPTORS : 1,
    hasReserve: hasFreeDescriptors,
    now,
  });
  let isClosed = false;
  const persistence = { log, now, isClosed: () => isClosed, onFailure: connections.relieve };
  let relay = isRelayed ? openRelay() : undefined;
  const relayFailure = Promise.withResolvers<void>();
  relay?.finished.then(relayFailure.resolve, relayFailure.reject);
  const isProxy = trustedPeer(config.trustedProxies);
  const addressOf = clientAddress(config.trustedProxies);
  const served = new Set<ServedConnection>();
  let refused = 0;

  const accepting = acceptConnections(socket, { ...persistence, onConnection: serve });
  const checking = setInterval(check, CHECK_MS);

  return {
    /** E.g. `http://localhost:3000`. */
    address,
    /** Whether it refused connections in the last seconds because there are too many. */
    get isFull() {
      return refused > 0;
    },
    /** Resolves after `shutdown()`; rejects if no connection can be accepted any more. */
    accepting: Promise.race([accepting, relayFailure.promise.then(() => accepting)]),
    /** From now on, connections may become WebSockets. */
    relay(): void {
      if (relay || isClosed) return;
      relay = openRelay();
      relay.finished.then(relayFailure.resolve, relayFailure.reject);
      connections.expectDescriptors(RELAYED_DESCRIPTORS);
    },
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
      return createRelay({ tls, onError, persistence });
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
    // Else the end of a response or a frame waits some 40 ms for a delayed acknowledgement.
    (conn as Deno.TcpConn).setNoDelay();
    const { signal } = closing;
    const handle = async (request: Request, info: { completed: Promise<void> }) => {
      const end = () => connections.endRequest(connection);
      connections.beginRequest(connection);
      try {
        discardHiddenBody(request);
        const response = await connections.answer(
          connection,
          () => clientOf(request, connection, peer),
          () => respond(request, peer, signal),
        );
        return send(response ?? busy(), connection, info, end);
      } catch (error) {
        end();
        throw error;
      }
    };
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

  /** The address group of the client, or the connection of a proxy that does not name its client. */
  function clientOf({ headers }: Request, connection: Connection, peer: string) {
    if (!connection.isProxy) return connection.group;
    try {
      const group = addressGroup(addressOf(peer, headers));
      return group === connection.group ? connection : group;
    } catch {
      // The headers are malformed, which the answer says.
      return connection;
    }
  }

  /** Prepares a response for the runtime, which reports only the delivery of streams. */
  function send(
    response: Response,
    connection: Connection,
    info: { completed: Promise<void> },
    end: () => void,
  ): Response {
    // A WebSocket has ended when its connection is removed.
    if (response.status === SWITCHING_PROTOCOLS) return response;
    const whole = wholeBody(response);
    const endDelivery = whole && connections.beginDelivery(connection, whole.length);
    if (whole ? !endDelivery : response.body === null) {
      end();
      return response;
    }
    const endBoth = () => {
      endDelivery?.();
      end();
    };
    info.completed.then(endBoth, endBoth);
    const isSmall = whole !== undefined && whole.length <= SMALL_BYTES;
    return isSmall ? new Response(streamOf(whole), response) : response;
  }

  async function respond(request: Request, peer: string, signal: AbortSignal): Promise<Response> {
    if (signal.aborted) return connectionClosed();
    const response = await answer(request, peer);
    // A GET has no body. That of a request that became a WebSocket cannot even be read.
    if (request.method !== "GET") await drainBody(request);
    const isUnused = signal.aborted && response.status !== SWITCHING_PROTOCOLS;
    return isUnused ? connectionClosed() : response;
  }
}

/** The runtime still reports requests that came before the end of their connection */
const connectionClosed = () => new Response(null, { status: 503 });

/** Without a body, which a client need not take: the runtime keeps the request until then. */
const busy = () => new Response(null, { status: 503, headers: { "retry-after": "5" } });

/**
 * Accepts connections until `isClosed`. A failure is usually a lack of file descriptors, which
 * passes.
 *
 * @throws The last failure, if accepting fails for a minute.
 */
export function acceptConnections(
  socket: Pick<Deno.Listener<Deno.Conn>, "accept">,
  { onConnection, ...persistence }: Persistence & { onConnection: (conn: Deno.Conn) => void },
): Promise<void> {
  return persist(async (succeed) => {
    onConnection(await socket.accept());
    succeed();
  }, persistence);
}
