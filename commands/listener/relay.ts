/**
 * A server for connections with TLS and for those that may become WebSockets: the runtime cannot end
 * a TLS handshake that it has begun, and ends a WebSocket with the server of its connection
 * (`http_connection.ts`). The listener passes the bytes of such connections to a server on a loopback
 * port, which takes only those. This costs two more descriptors for each connection and up to half of the
 * throughput, so that it is used only where TLS or terminals are on.
 *
 * @module
 */

import { provideByteLimit } from "../../routes/pipeline/received_bytes.ts";
import { Intake, provideIntake } from "../../services/stream/intake.ts";
import type { ServedConnection } from "./http_connection.ts";
import { persist, type Persistence } from "../persistence.ts";

type Handle = (request: Request, info: { completed: Promise<void> }) => Promise<Response>;

export type Relay = ReturnType<typeof createRelay>;

/** Bytes that are read at a time. */
const BUFFER_BYTES = 32 * 1024;

/** File descriptors of a relayed connection: the client's, and both ends of the inner one. */
export const RELAYED_DESCRIPTORS = 3;

/**
 * @param options.tls With it, the bytes of connections are encrypted.
 * @throws If `tls` cannot be used.
 */
export function createRelay(
  { tls, onError, persistence }: {
    tls: { cert: string; key: string } | undefined;
    onError: (error: unknown) => Response;
    persistence: Persistence;
  },
) {
  /** By the port of the relay's end. */
  const relayed = new Map<number, { handle: Handle; received: Received }>();
  let succeed = () => {};
  let server = start();
  const finished = persist(async (onSuccess) => {
    succeed = onSuccess;
    if (server.ended.signal.aborted) server = start();
    await server.http.finished;
    throw new Error("The server of the relay has ended");
  }, {
    ...persistence,
    onFailure() {
      server.ended.abort();
      // Nothing answers them any more.
      for (const close of server.clients) close();
      persistence.onFailure();
    },
  });

  return {
    /** Rejects if the server could accept no connections for a minute. */
    finished,

    /** Serves a connection. @param signal Closes it at once. */
    serve(conn: Deno.Conn, signal: AbortSignal, handle: Handle): ServedConnection {
      const { clients, ended } = server;
      const closing = new AbortController();
      const close = () => closing.abort();
      signal.addEventListener("abort", close, { once: true });
      clients.add(close);
      // Another program may have the port of a server that has ended.
      if (ended.signal.aborted) close();
      const finished = pass(conn, closing.signal, handle).finally(() => clients.delete(close));
      return { finished, shutdown: () => Promise.resolve() };
    },

    shutdown: () => server.http.shutdown(),
  };

  /** A server, its end, and what closes the clients that it serves. */
  function start() {
    const ended = new AbortController();
    // Without the signal: the runtime cannot abort a server that has ended, and ends the process.
    const http = Deno.serve(
      { hostname: "127.0.0.1", port: 0, ...tls, onListen: () => {}, onError },
      async (request, info) => {
        const connection = relayed.get(info.remoteAddr.port);
        // Another program of this host.
        if (!connection) return new Response(null, { status: 403 });
        succeed();
        const { handle, received } = connection;
        provideByteLimit(request, (bytes) => received.bytes = bytes);
        const intake = received.intake = new Intake();
        provideIntake(request, intake);
        try {
          return await handle(request, info);
        } finally {
          intake.end();
        }
      },
    );
    return { http, ended, clients: new Set<() => void>() };
  }

  async function pass(conn: Deno.Conn, signal: AbortSignal, handle: Handle): Promise<void> {
    const closeFront = once(() => conn.close());
    signal.addEventListener("abort", closeFront, { once: true });
    try {
      if (signal.aborted) return;
      const inner = await Deno.connect({ hostname: "127.0.0.1", port: server.http.addr.port });
      inner.setNoDelay();
      const closeInner = once(() => inner.close());
      signal.addEventListener("abort", closeInner, { once: true });
      const { port } = inner.localAddr;
      const received: Received = { bytes: Infinity, intake: new Intake() };
      relayed.set(port, { handle, received });
      try {
        if (signal.aborted) return;
        // A client may end its direction first; the server ends the connection.
        const sending = copy(conn, inner, received).then(() => inner.closeWrite()).catch(
          closeInner,
        );
        await copy(inner, conn).catch(() => {});
        closeFront();
        closeInner();
        received.intake.end();
        await sending;
      } finally {
        relayed.delete(port);
        closeInner();
      }
    } finally {
      closeFront();
    }
  }
}

/** Limits of what a client sends. */
interface Received {
  /** Bytes that may still be copied. */
  bytes: number;
  /** That of the current request. */
  intake: Intake;
}

/** @throws {RangeError} Beyond what is allowed. */
async function copy(
  from: Deno.Conn,
  to: Deno.Conn,
  received?: Received,
): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    if (received && (received.bytes -= count) < 0) {
      throw new RangeError("The client has sent too much");
    }
    await received?.intake.opened();
    for (let at = 0; at < count;) at += await to.write(buffer.subarray(at, count));
  }
}

function once(close: () => void): () => void {
  let isClosed = false;
  return () => {
    if (isClosed) return;
    isClosed = true;
    close();
  };
}
