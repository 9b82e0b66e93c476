/**
 * A server for connections with TLS and for those that may become WebSockets: the runtime cannot end
 * a TLS handshake that it has begun, and ends a WebSocket with the server of its connection
 * (`http_connection.ts`). The listener passes the bytes of such connections to a server on a loopback
 * port, which takes only those. This costs two descriptors for each connection and up to half of the
 * throughput, so that it is used only where TLS or terminals are on.
 *
 * @module
 */

import type { ServedConnection } from "./http_connection.ts";

type Handle = (request: Request, info: { completed: Promise<void> }) => Promise<Response>;

export type Relay = ReturnType<typeof createRelay>;

/** Bytes that are read at a time. */
const BUFFER_BYTES = 32 * 1024;

/** @param tls With it, the bytes of connections are encrypted. */
export function createRelay(
  tls: { cert: string; key: string } | undefined,
  onError: (error: unknown) => Response,
) {
  /** By the port of the relay's end. */
  const relayed = new Map<number, Handle>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, ...tls, onListen: () => {}, onError },
    (request, info) => {
      const { port } = info.remoteAddr;
      // Another program of this host.
      return relayed.get(port)?.(request, info) ?? new Response(null, { status: 403 });
    },
  );

  return {
    /** Rejects if the server can accept no connections any more. */
    finished: server.finished,

    /** Serves a connection. @param signal Closes it at once. */
    serve(conn: Deno.Conn, signal: AbortSignal, handle: Handle): ServedConnection {
      return { finished: pass(conn, signal, handle), shutdown: () => Promise.resolve() };
    },

    shutdown: () => server.shutdown(),
  };

  async function pass(conn: Deno.Conn, signal: AbortSignal, handle: Handle): Promise<void> {
    const closeFront = once(() => conn.close());
    signal.addEventListener("abort", closeFront, { once: true });
    try {
      const inner = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
      const closeInner = once(() => inner.close());
      signal.addEventListener("abort", closeInner, { once: true });
      const { port } = inner.localAddr;
      relayed.set(port, handle);
      try {
        if (signal.aborted) return;
        // A client may end its direction first; the server ends the connection.
        const sending = copy(conn, inner).then(() => inner.closeWrite()).catch(closeInner);
        await copy(inner, conn).catch(() => {});
        closeFront();
        closeInner();
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

async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
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
