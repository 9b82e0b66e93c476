/**
 * TLS handshakes of accepted connections. The runtime can neither end a handshake nor close its
 * descriptor before the client goes on or leaves: not even closing the connection does. Clients that
 * do neither are therefore only counted, and the process has to end when there are too many.
 *
 * @module
 */

export type Handshakes = ReturnType<typeof createHandshakes>;

/** Part of the connections that may be in their handshake at a time. */
const PART = 1 / 2;

export const isTls = (conn: Deno.Conn): conn is Deno.TlsConn => "handshake" in conn;

/** @param connectionsMax Limit of the connections of the listener. */
export function createHandshakes(connectionsMax: number) {
  const overflow = Promise.withResolvers<never>();
  overflow.promise.catch(() => {});
  let count = 0;

  return {
    /** Rejects when there are too many. */
    overflow: overflow.promise,

    /** Waits for the handshake, and passes the connection on if it succeeds. */
    begin(conn: Deno.TlsConn, onDone: (conn: Deno.TlsConn) => void): void {
      if (++count > connectionsMax * PART) {
        overflow.reject(new Error(`${count} clients do not end their TLS handshake`));
      }
      conn.handshake().finally(() => count--).then(() => onDone(conn), () => conn.close());
    },
  };
}
