/** Connections that a client opens and then keeps, as an attacker does. @module */

import { connect, type Socket } from "node:net";

/** A configuration of the listener on a free port, without TLS. */
export const LISTENER_DEFAULTS = {
  host: "127.0.0.1",
  port: 0,
  tlsCertFile: null,
  tlsKeyFile: null,
  maxConnections: 1_000,
  terminal: "off" as "off" | "admin",
  trustedProxies: [] as string[],
};

/** Beginnings of requests that do not go on. */
export const UNFINISHED = {
  nothing: "",
  "half a head": "GET / HTTP/1.1\r\nHo",
  "an HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "half a body": "POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n" +
    'content-length: 1000\r\n\r\n{"a',
};

export interface HeldConnections extends Disposable {
  /** Number of connections that the server has not closed. */
  readonly open: number;
  /** Received text of all connections. */
  readonly received: string;
}

/** Opens `count` connections one after the other and sends `beginning` on each. */
export async function holdConnections(
  port: number,
  { count, beginning, from = "127.0.0.1" }: { count: number; beginning: string; from?: string },
): Promise<HeldConnections> {
  const sockets: Socket[] = [];
  let open = 0;
  let received = "";
  for (let at = 0; at < count; at++) {
    const socket = connect({ host: "127.0.0.1", port, localAddress: from });
    sockets.push(socket);
    // A connection that the server resets ends with an error first.
    socket.on("error", () => {});
    await new Promise<void>((resolve) => {
      socket.once("connect", () => {
        open++;
        socket.once("close", () => open--);
        socket.on("data", (data) => received += data.toString());
        socket.write(beginning);
        resolve();
      });
      socket.once("close", () => resolve());
    });
  }
  return {
    get open() {
      return open;
    },
    get received() {
      return received;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
